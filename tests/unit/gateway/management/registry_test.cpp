// over 600 lines: one fixture for all that a registry does.
#include "gateway/management/registry.hpp"

#include "store/memory.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/registry");

namespace {

using core::errc;
using core::json;

// A store whose disk fails: with the write done or not done, as the test says.
class doubtful_store final : public store::engine {
public:
    enum class fault { none, before, after };

    bool durable() const noexcept override { return true; }
    core::result<std::vector<store::record>> load() override { return below_->load(); }
    core::result<std::optional<store::record>> find(std::string id) override
    {
        happen();
        return below_->find(std::move(id));
    }

    core::result<store::record> put(std::string id, std::string definition, store::author by) override
    {
        if (how == fault::before) {
            return failure();
        }
        happen();
        auto done = below_->put(std::move(id), std::move(definition), std::move(by));
        return how == fault::after ? core::result<store::record>{failure()} : done;
    }

    core::result<std::uint64_t> remove(std::string id, store::author by) override
    {
        if (how == fault::before) {
            return failure();
        }
        happen();
        auto done = below_->remove(std::move(id), std::move(by));
        return how == fault::after ? core::result<std::uint64_t>{failure()} : done;
    }

    core::result<std::vector<store::change>> changes(std::uint64_t after, std::size_t most) override
    {
        return below_->changes(after, most);
    }
    core::result<> keep_tasks(std::vector<store::kept_task>) override { return {}; }
    core::result<> trim_tasks(core::wall_time, std::size_t) override { return {}; }
    core::result<std::vector<store::kept_task>> tasks() override { return std::vector<store::kept_task>{}; }
    core::result<> keep_cards(std::vector<store::kept_card>) override { return {}; }
    core::result<std::optional<store::kept_card>> card(std::string) override { return std::nullopt; }
    core::result<> keep_card_version(store::card_version) override { return {}; }
    core::result<std::vector<store::card_version>> card_versions(std::string) override
    {
        return std::vector<store::card_version>{};
    }
    core::result<> keep_document(store::kept_document) override { return {}; }
    core::result<> drop_document(std::string, std::string) override { return {}; }
    core::result<std::vector<store::kept_document>> documents(std::string) override
    {
        return std::vector<store::kept_document>{};
    }
    core::result<core::secret> session_key(core::secret made) override { return made; }
    core::result<std::optional<std::uint64_t>> keep_delivery(store::kept_delivery) override { return 1; }
    core::result<std::vector<store::delivery_facts>> deliveries() override
    {
        return std::vector<store::delivery_facts>{};
    }
    core::result<std::optional<store::kept_delivery>> delivery(std::uint64_t) override { return std::nullopt; }
    core::result<> drop_delivery(std::uint64_t) override { return {}; }

    fault how = fault::none;
    std::function<void()> meanwhile;  // once, on the store's thread while whoever asked waits for it

private:
    void happen()
    {
        if (const auto what = std::exchange(meanwhile, nullptr)) {
            what();
        }
    }

    static core::error failure() { return core::gateway_error(errc::store_failed, "the disk"); }

    std::unique_ptr<store::engine> below_ = store::make_memory();
};

class lines final : public core::log_sink {
public:
    void write(std::string_view text) override { all += text; }
    std::string all;
};

template <class T>
T run(net::task<T> what)
{
    net::asio::io_context io;
    std::optional<T> out;
    net::asio::co_spawn(io, std::move(what), [&](const std::exception_ptr& bug, T value) {
        REQUIRE_FALSE(bug);
        out.emplace(std::move(value));
    });
    io.run();
    REQUIRE(out.has_value());
    return std::move(*out);
}

struct fixture {
    explicit fixture(std::vector<core::agent> declared = {})
    {
        settings.agents = std::move(declared);
        auto made = std::make_unique<doubtful_store>();
        engine = made.get();
        thread.emplace(std::move(made));
        agents.emplace(settings, *thread, log, by);
        agents->set_publisher([this](const std::string& id, std::shared_ptr<const gateway::model::agent_entry> agent) {
            const auto now = agent == nullptr ? "gone" : agent->record.disabled ? "disabled" : agent->record.url;
            published.push_back(id + ' ' + now);
        });
    }

    core::result<std::uint64_t> upsert(const std::string& id, const std::string& url)
    {
        auto proposed = agents->propose(id, json{{"url", url}}, "agent");
        REQUIRE(proposed.problems.empty());
        return run(agents->upsert(id, std::move(proposed), {"test", {}, {}}));
    }

    bool declare(std::vector<core::agent> there, std::vector<std::string> gone)
    {
        return run(agents->declare(std::move(there), std::move(gone))).has_value();
    }

    core::result<std::uint64_t> remove(const std::string& id) { return run(agents->remove(id, {"test", {}, {}})); }

    // Whether an agent of this id would be refused for this name.
    bool refused(const std::string& id, const std::string& host)
    {
        return !agents->propose(id, json{{"url", "http://h/"}, {"hosts", {host}}}, "agent").problems.empty();
    }

    std::string url_of(const std::string& id) const
    {
        const auto* there = agents->find(id);
        return there == nullptr ? "" : there->entry->record.url;
    }

    config::settings settings;
    lines sink;
    core::logger log{sink, core::log_level::debug};
    doubtful_store* engine = nullptr;
    std::optional<gateway::threads::store_thread> thread;
    gateway::threads::turns by{std::chrono::microseconds{0}};  // each step is a turn of its own
    std::optional<gateway::management::registry> agents;
    std::vector<std::string> published;
};

core::agent agent(std::string id, std::string url)
{
    core::agent out;
    out.id = std::move(id);
    out.url = std::move(url);
    out.trust = core::card_trust::same_origin;
    return out;
}

using published = std::vector<std::string>;
using fault = doubtful_store::fault;

}  // namespace

TEST_CASE("a write that the disk refused has changed nothing")
{
    fixture f;
    REQUIRE(f.upsert("a", "http://one/").has_value());
    f.engine->how = fault::before;
    CHECK(f.upsert("a", "http://two/").error().code == errc::store_failed);
    CHECK(f.upsert("b", "http://two/").error().code == errc::store_failed);
    CHECK(f.remove("a").error().code == errc::store_failed);
    CHECK(f.url_of("a") == "http://one/");
    CHECK(f.agents->all().size() == 1);
    CHECK(f.published == published{"a http://one/"});
    CHECK(f.sink.all.find(R"("event":"store_write_failed","agent":"a","code":"store_failed")") != std::string::npos);
}

TEST_CASE("Writes are counted by outcome, but for those that what is stored refuses")
{
    fixture f;
    const auto check = [&](std::uint64_t ok, std::uint64_t failed) {
        CHECK(f.thread->writes().ok == ok);
        auto writes = f.thread->writes();
        CHECK(*writes.of(errc::store_failed) == failed);
        CHECK(*writes.of(errc::store_full) == 0);
    };
    check(0, 0);
    REQUIRE(f.upsert("a", "http://one/").has_value());
    REQUIRE(f.remove("a").has_value());
    check(2, 0);
    CHECK(f.remove("a").error().code == errc::agent_not_found);
    check(2, 0);
    f.engine->how = fault::before;
    CHECK_FALSE(f.upsert("a", "http://two/").has_value());
    CHECK_FALSE(f.remove("a").has_value());
    check(2, 2);
}

TEST_CASE("a write that was done while the disk said it was not is served, because it is what the file says")
{
    fixture f;
    f.engine->how = fault::after;
    CHECK(f.upsert("a", "http://one/").error().code == errc::store_failed);
    CHECK(f.url_of("a") == "http://one/");
    CHECK(f.agents->find("a")->version == 1);
    CHECK(f.remove("a").error().code == errc::store_failed);
    CHECK(f.agents->find("a") == nullptr);
    CHECK(f.published == published{"a http://one/", "a gone"});
}

TEST_CASE("what is stored and cannot be used any more stays, is not served, and can be written again")
{
    fixture f;
    REQUIRE(f.engine->put("bad", R"({"url":"ftp://h/"})", {"test", {}, {}}).has_value());
    REQUIRE(f.engine->put("worse", "no JSON", {"test", {}, {}}).has_value());
    REQUIRE(f.engine->put("good", R"({"url":"http://good/"})", {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    CHECK(f.agents->all().size() == 3);
    const auto* bad = f.agents->find("bad");
    REQUIRE(bad != nullptr);
    CHECK_FALSE(bad->served());
    REQUIRE(bad->problems.size() == 1);
    CHECK(bad->problems.front().key == "agent.url");
    CHECK_FALSE(f.agents->find("worse")->served());
    const auto snapshot = f.agents->take_snapshot("http://gateway");
    CHECK(snapshot->agents.size() == 1);
    CHECK(snapshot->agents.contains("good"));
    CHECK(f.sink.all.find(R"("event":"stored_agent_unusable","agent":"bad","key":"agent.url")") != std::string::npos);

    CHECK(f.upsert("bad", "http://better/").has_value());
    CHECK(f.agents->find("bad")->served());
    CHECK(f.remove("worse").has_value());
    CHECK(f.agents->find("worse") == nullptr);
}

TEST_CASE("a declared agent is not written, and hides a stored one of its id")
{
    core::agent declared;
    declared.id = "a";
    declared.url = "http://declared/";
    fixture f{{declared}};
    REQUIRE(f.engine->put("a", R"({"url":"http://stored/"})", {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    CHECK(f.url_of("a") == "http://declared/");
    CHECK(f.upsert("a", "http://other/").error().code == errc::agent_read_only);
    CHECK(f.remove("a").error().code == errc::agent_read_only);
    CHECK(f.engine->find("a").value()->version == 1);
    CHECK(f.published.empty());
}

TEST_CASE("a reload declares agents and takes them away, and what hides a stored one gives it back when it goes")
{
    fixture f{{agent("a", "http://one/"), agent("b", "http://b/")}};
    REQUIRE(f.agents->load().has_value());
    REQUIRE(f.upsert("stored", "http://stored/").has_value());
    f.published.clear();

    CHECK(f.declare({agent("a", "http://two/"), agent("stored", "http://declared/"), agent("c", "http://c/")}, {"b"}));
    CHECK(f.published == published{"a http://two/", "stored http://declared/", "c http://c/", "b gone"});
    CHECK(f.agents->find("stored")->declared());
    CHECK(f.upsert("stored", "http://other/").error().code == errc::agent_read_only);
    CHECK(f.sink.all.find(R"("event":"stored_agent_hidden","agent":"stored")") != std::string::npos);
    f.published.clear();

    CHECK(f.declare({}, {"stored", "c"}));
    CHECK(f.published == published{"stored http://stored/", "c gone"});
    CHECK(f.agents->find("stored")->version == 1);
    CHECK(f.upsert("stored", "http://other/").has_value());
}

TEST_CASE("What hides a stored agent that is disabled gives it back, too")
{
    fixture f;
    REQUIRE(f.agents->load().has_value());
    auto proposed = f.agents->propose("off", json{{"url", "http://stored/"}, {"disabled", true}}, "agent");
    REQUIRE(proposed.problems.empty());
    REQUIRE(run(f.agents->upsert("off", std::move(proposed), {"test", {}, {}})).has_value());
    CHECK(f.declare({agent("off", "http://declared/")}, {}));
    CHECK(f.url_of("off") == "http://declared/");
    CHECK(f.declare({}, {"off"}));
    CHECK(f.url_of("off") == "http://stored/");
    REQUIRE(f.agents->find("off") != nullptr);
    CHECK_FALSE(f.agents->find("off")->served());
}

TEST_CASE("where a card has calls go holds for the agent that it was the card of")
{
    fixture f{{agent("a", "http://one/")}};
    REQUIRE(f.agents->load().has_value());
    const auto called = [&](const char* id) {
        const auto& entry = *f.agents->find(id)->entry;
        return entry.call_url + (entry.awaits_card ? ", card awaited" : "");
    };
    CHECK(called("a") == "http://one/, card awaited");
    f.agents->route("a", {"http://one/rpc", {}});
    CHECK(called("a") == "http://one/rpc");
    CHECK(f.agents->find("a")->entry->call_head.starts_with("POST /rpc "));

    // The same agent again, as after a change of its TLS files: its card has not changed.
    CHECK(run(f.agents->declare({agent("a", "http://one/")}, {}, /*files_changed=*/true)).has_value());
    CHECK(called("a") == "http://one/rpc");

    CHECK(f.declare({agent("a", "http://two/")}, {}));
    CHECK(called("a") == "http://two/, card awaited");
    CHECK(f.agents->find("a")->entry->call_head.starts_with("POST / "));

    REQUIRE(f.upsert("b", "http://one/").has_value());
    f.agents->route("b", {"http://one/rpc", {}});
    REQUIRE(f.upsert("b", "http://one/").has_value());
    CHECK(called("b") == "http://one/rpc");
    REQUIRE(f.upsert("b", "http://two/").has_value());
    CHECK(called("b") == "http://two/, card awaited");
    f.agents->route("b", {});
    CHECK(called("b") == "http://two/");
}

TEST_CASE("the dialects that a card names hold for the agent that it was the card of")
{
    fixture f{{agent("a", "http://one/")}};
    REQUIRE(f.agents->load().has_value());
    const gateway::model::call_route route{"http://one/", {{core::a2a_dialect::v1_rest, "http://one/api", {}}}};
    const auto spoken = [&] { return f.agents->find("a")->entry->route(); };
    CHECK(spoken().interfaces.empty());
    f.agents->route("a", route);
    CHECK(spoken() == route);
    const auto before = f.agents->find("a")->entry;
    f.agents->route("a", route);
    CHECK(f.agents->find("a")->entry == before);

    CHECK(run(f.agents->declare({agent("a", "http://one/")}, {}, /*files_changed=*/true)).has_value());
    CHECK(spoken() == route);
    f.agents->set_token("a", core::secret{"t"});
    CHECK(spoken() == route);

    CHECK(f.declare({agent("a", "http://two/")}, {}));
    CHECK(spoken().interfaces.empty());
}

TEST_CASE("An MCP server that fell back to HTTP+SSE is called so until its session says otherwise or is another one")
{
    auto server = agent("a", "http://one/");
    server.speaks = core::protocol::mcp;
    server.mcp.emplace();
    fixture f{{server}};
    REQUIRE(f.agents->load().has_value());
    const auto over_sse = [&f] { return f.agents->find("a")->entry->has_program_sessions(); };
    CHECK_FALSE(over_sse());
    f.agents->set_fell_back("a", true);
    f.agents->set_fell_back("a", true);
    f.agents->set_fell_back("nobody", true);
    CHECK(f.published == published{"a http://one/"});
    CHECK(over_sse());
    server.mcp->tools.deny = {"x"};
    CHECK(f.declare({server}, {}));
    f.agents->set_token("a", core::secret{"token"});
    CHECK(over_sse());
    f.agents->set_fell_back("a", false);
    CHECK_FALSE(over_sse());
    f.agents->set_fell_back("a", true);
    server.url = "http://two/";
    CHECK(f.declare({server}, {}));
    CHECK_FALSE(over_sse());
}

TEST_CASE("Workers hear that an agent becomes disabled, and get it back when it is enabled")
{
    fixture f{{agent("a", "http://one/")}};
    REQUIRE(f.agents->load().has_value());
    auto disabled = agent("a", "http://one/");
    disabled.disabled = true;
    CHECK(f.declare({disabled}, {}));
    CHECK(f.declare({disabled}, {}));
    CHECK(f.declare({agent("a", "http://one/")}, {}));
    CHECK(f.published == published{"a disabled", "a disabled", "a http://one/"});
}

TEST_CASE("The log says of each write whether it created, updated or deleted the agent")
{
    fixture f;
    REQUIRE(f.upsert("a", "http://one/").has_value());
    REQUIRE(f.upsert("a", "http://two/").has_value());
    REQUIRE(f.remove("a").has_value());
    REQUIRE(f.upsert("a", "http://three/").has_value());
    std::size_t at = 0;
    for (const auto* action : {"created", "updated", "deleted", "created"}) {
        at = f.sink.all.find(std::string{R"("event":"agent_changed","agent":"a","action":")"} + action + '"', at);
        REQUIRE(at != std::string::npos);
        ++at;
    }
}

TEST_CASE("one declared agent that cannot be used keeps the others from changing")
{
    fixture f{{agent("a", "http://one/")}};
    REQUIRE(f.agents->load().has_value());
    auto unusable = agent("b", "https://b/");
    unusable.ca_file = "/nonexistent/ca.pem";
    const auto done = run(f.agents->declare({agent("a", "http://two/"), unusable}, {}));
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().code == errc::config_invalid);
    CHECK(f.url_of("a") == "http://one/");
    CHECK(f.published.empty());
}

TEST_CASE("a write that is under way when the configuration declares its agent stays beneath it")
{
    fixture f;
    REQUIRE(f.agents->load().has_value());
    f.engine->meanwhile = [&] { CHECK(f.declare({agent("a", "http://declared/")}, {})); };
    CHECK(f.upsert("a", "http://written/").error().code == errc::agent_read_only);
    CHECK(f.url_of("a") == "http://declared/");
    CHECK(f.declare({}, {"a"}));
    CHECK(f.url_of("a") == "http://written/");

    f.engine->meanwhile = [&] { CHECK(f.declare({agent("a", "http://declared/")}, {})); };
    CHECK(f.remove("a").has_value());
    CHECK(f.url_of("a") == "http://declared/");
    CHECK(f.declare({}, {"a"}));
    CHECK(f.agents->find("a") == nullptr);
}

TEST_CASE("an agent that is a program is written only with admin_programs, in whichever form it is given")
{
    fixture f;
    const auto problem_of = [&](const char* definition) {
        const auto proposed = f.agents->propose("a", *core::parse_json(definition), "agent");
        CHECK((proposed.entry == nullptr) == !proposed.problems.empty());
        return proposed.problems.empty() ? std::string{} : proposed.problems.front().key;
    };
    const auto problems = [&] {
        return std::vector<std::string>{
            problem_of(R"({"command":"/bin/touch","args":["/x"]})"),
            problem_of(R"({"protocol":"mcp","command":"/bin/touch","disabled":true})"),
            problem_of(R"({"protocol":"mcp","transport":{"command":"/bin/touch"}})"),
            problem_of(R"({"protocol":"mcp","transport":{"type":"stdio","command":"/bin/touch"},"card":{"name":"A"}})"),
            problem_of(R"({"protocol":"mcp","transport":{"type":"sse","url":"http://h/"}})"),
            problem_of(R"({"protocol":"mcp","url":"http://h/"})"),
        };
    };
    const std::string given = "agent.transport";
    CHECK(problems() == std::vector<std::string>{"agent.command", "agent.command", given, given, "", ""});
    f.settings.admin_programs = true;
    CHECK(problems() == std::vector<std::string>(6));
}

TEST_CASE("a program that was stored while admin_programs was on is not served without it, and can be written again")
{
    fixture f;
    constexpr const char* program = R"({"protocol":"mcp","transport":{"type":"stdio","command":"/bin/touch"}})";
    REQUIRE(f.engine->put("a", program, {"test", {}, {}}).has_value());
    REQUIRE(f.engine->put("b", program, {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    CHECK_FALSE(f.agents->find("a")->served());
    CHECK(f.agents->take_snapshot("http://gateway")->agents.empty());
    CHECK(
        f.sink.all.find(
            R"("event":"stored_agent_unusable","agent":"a","key":"agent.transport","what":"is a program, which only agents )"
        ) != std::string::npos
    );
    CHECK(f.upsert("a", "http://other/").has_value());
    CHECK(f.remove("b").has_value());
    CHECK(f.published == published{"a http://other/"});
}

TEST_CASE("a stored program that a declared agent has hidden is not served when that goes")
{
    fixture f{{agent("a", "http://declared/")}};
    REQUIRE(f.engine->put("a", R"({"command":"/bin/touch"})", {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    CHECK(f.declare({}, {"a"}));
    REQUIRE(f.agents->find("a") != nullptr);
    CHECK_FALSE(f.agents->find("a")->served());
}

TEST_CASE("A walk visits each agent that stays once, in order, while others come and go")
{
    fixture f{
        {agent("a", "http://a/"),
         agent("c", "http://c/"),
         agent("e", "http://e/"),
         agent("g", "http://g/"),
         agent("i", "http://i/")}
    };
    REQUIRE(f.agents->load().has_value());
    net::asio::io_context io;
    std::vector<std::string> seen;
    gateway::management::agent_visitor note = [&](const std::string& id,
                                                  const gateway::management::registered_agent& there) {
        CHECK(there.entry->record.id == id);
        seen.push_back(id);
        return true;
    };
    bool more = true;
    bool changed = false;
    net::asio::co_spawn(
        io,
        walk_agents(*f.agents, f.by, {}, std::move(note), {}),
        [&](const std::exception_ptr& bug, bool follow) { more = bug != nullptr || follow; }
    );
    net::asio::co_spawn(
        io,
        f.agents->declare(
            {agent("b", "http://b/"), agent("d", "http://d/"), agent("f", "http://f/"), agent("h", "http://h/")},
            {"a", "c", "g"}
        ),
        [&](const std::exception_ptr& bug, const core::result<>& done) { changed = !bug && done.has_value(); }
    );
    io.run();
    CHECK(changed);
    CHECK_FALSE(more);
    CHECK(std::ranges::is_sorted(seen));
    CHECK(std::ranges::adjacent_find(seen) == seen.end());
    for (const auto* stays : {"e", "i"}) {
        CHECK(std::ranges::find(seen, stays) != seen.end());
    }
    CHECK(f.agents->all().size() == 6);
}

TEST_CASE("A walk ends when nobody waits for it, and says whether agents follow where the visitor had enough")
{
    fixture f{{agent("a", "http://a/"), agent("b", "http://b/"), agent("c", "http://c/")}};
    REQUIRE(f.agents->load().has_value());
    std::stop_source left;
    std::vector<std::string> seen;
    const auto walk = [&](const std::string& after, std::size_t enough) {
        gateway::management::agent_visitor note =
            [&seen, enough](const std::string& id, const gateway::management::registered_agent&) {
                seen.push_back(id);
                return seen.size() < enough;
            };
        seen.clear();
        return run(walk_agents(*f.agents, f.by, after, std::move(note), left.get_token()));
    };
    CHECK(walk("", 2));
    CHECK(seen == published{"a", "b"});
    CHECK_FALSE(walk("", 3));
    CHECK_FALSE(walk("b", 9));
    CHECK(seen == published{"c"});
    CHECK_FALSE(walk("c", 9));
    left.request_stop();
    CHECK_FALSE(walk("", 9));
    CHECK(seen.empty());
}

TEST_CASE("A name that another agent or the gateway has is refused, and is free once that agent has let go of it")
{
    auto declared = agent("a", "http://a/");
    declared.hosts = {"x.test"};
    fixture f{{declared}};
    f.settings.public_url = "https://gw.test";
    f.settings.agent_hosts = "{id}.agents.test";
    f.agents.emplace(f.settings, *f.thread, f.log, f.by);
    REQUIRE(f.agents->load().has_value());
    const auto refused = [&](const std::string& id, const json& hosts) {
        const auto proposed = f.agents->propose(id, json{{"url", "http://h/"}, {"hosts", hosts}}, "agent");
        CHECK((proposed.entry == nullptr) == !proposed.problems.empty());
        return proposed.problems.empty() ? "" : proposed.problems.front().key + ' ' + proposed.problems.front().what;
    };
    CHECK(refused("b", {"X.test"}) == "agent.hosts \"x.test\" is a name of the agent a; expected another name");
    CHECK(
        refused("b", {"gw.test"}) == "agent.hosts \"gw.test\" is a name of the gateway itself; expected another name"
    );
    CHECK(
        refused("b", {"a.agents.test"}) ==
        "agent.hosts \"a.agents.test\" is a name of the agent a; expected another name"
    );
    CHECK(refused("b", {"b.test"}) == "");

    auto proposed = f.agents->propose("b", json{{"url", "http://h/"}, {"hosts", {"b.test"}}}, "agent");
    REQUIRE(run(f.agents->upsert("b", std::move(proposed), {"test", {}, {}})).has_value());
    CHECK(refused("b", {"b.test", "c.test"}) == "");
    CHECK(refused("c", {"b.test"}) == "agent.hosts \"b.test\" is a name of the agent b; expected another name");
    CHECK(refused("c", {"b.agents.test"}) != "");
    REQUIRE(f.remove("b").has_value());
    CHECK(refused("c", {"b.test", "b.agents.test"}) == "");

    declared.hosts.clear();
    CHECK(f.declare({declared}, {}));
    CHECK(refused("c", {"x.test"}) == "");
}

TEST_CASE(
    "A configuration that gives a stored agent's name to another agent is refused, unless it declares that agent too"
)
{
    fixture f;
    REQUIRE(f.agents->load().has_value());
    auto proposed = f.agents->propose("s", json{{"url", "http://s/"}, {"hosts", {"x.test"}}}, "agent");
    REQUIRE(run(f.agents->upsert("s", std::move(proposed), {"test", {}, {}})).has_value());
    auto taker = agent("a", "http://a/");
    taker.hosts = {"x.test"};
    const auto done = run(f.agents->declare({taker}, {}));
    REQUIRE(done.has_error());
    CHECK(done.error().code == errc::config_invalid);
    CHECK(done.error().detail == "agent a: \"x.test\" is a name of the agent s; expected another name");
    CHECK(f.agents->find("a") == nullptr);
    CHECK(f.declare({taker, agent("s", "http://declared/")}, {}));
    CHECK(f.url_of("a") == "http://a/");
}

TEST_CASE("Names go from one declared agent to another in one configuration")
{
    auto one = agent("a", "http://a/");
    auto other = agent("b", "http://b/");
    one.hosts = {"x.test"};
    other.hosts = {"y.test"};
    fixture f{{one, other}};
    REQUIRE(f.agents->load().has_value());
    std::swap(one.hosts, other.hosts);
    REQUIRE(f.declare({one, other}, {}));
    CHECK(f.agents->find("a")->entry->hosts == published{"y.test"});
    const auto refused = [&](const std::string& id, const std::string& host) {
        return !f.agents->propose(id, json{{"url", "http://h/"}, {"hosts", {host}}}, "agent").problems.empty();
    };
    CHECK(refused("b", "y.test"));
    CHECK(refused("a", "x.test"));
    CHECK_FALSE(refused("a", "y.test"));
}

TEST_CASE("While an agent is being written, nobody else is given its names")
{
    fixture f;
    REQUIRE(f.agents->load().has_value());
    const auto write = [&] {
        auto proposed = f.agents->propose("b", json{{"url", "http://b/"}, {"hosts", {"x.test"}}}, "agent");
        REQUIRE(proposed.problems.empty());
        return run(f.agents->upsert("b", std::move(proposed), {"test", {}, {}})).has_value();
    };
    auto taker = agent("a", "http://a/");
    taker.hosts = {"x.test"};
    bool held = false;
    f.engine->meanwhile = [&] {
        held = f.refused("c", "x.test") && !f.refused("b", "x.test") && !f.declare({taker}, {});
    };
    CHECK(write());
    CHECK(held);
    CHECK(f.agents->find("a") == nullptr);
    CHECK(f.refused("c", "x.test"));

    REQUIRE(f.remove("b").has_value());
    CHECK_FALSE(f.refused("c", "x.test"));
    f.engine->how = doubtful_store::fault::before;
    CHECK_FALSE(write());
    CHECK_FALSE(f.refused("c", "x.test"));
}

TEST_CASE("While a configuration is being declared, nobody else is given the names of its agents")
{
    fixture f{{agent("s", "http://declared/")}};
    REQUIRE(f.engine->put("s", R"({"url":"http://s/"})", {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    auto taker = agent("a", "http://a/");
    taker.hosts = {"x.test"};
    bool held = false;
    f.engine->meanwhile = [&] { held = f.agents->find("a") == nullptr && f.refused("c", "x.test"); };
    CHECK(f.declare({taker}, {"s"}));
    CHECK(held);
    CHECK(f.url_of("a") == "http://a/");
    CHECK(f.url_of("s") == "http://s/");
}

TEST_CASE("A stored agent that is shown again may have the name of a declared one that goes with what hid it")
{
    auto holder = agent("b", "http://b/");
    holder.hosts = {"x.test"};
    fixture f{{agent("s", "http://declared/"), holder}};
    REQUIRE(f.engine->put("s", R"({"url":"http://s/","hosts":["x.test"]})", {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    REQUIRE(f.declare({}, {"s", "b"}));
    CHECK(f.agents->find("b") == nullptr);
    CHECK(f.url_of("s") == "http://s/");
    CHECK(f.refused("c", "x.test"));
}

TEST_CASE("A configuration that would give an agent a name of the gateway as it was started is refused")
{
    fixture f;
    f.settings.public_url = "https://gw.test";
    f.agents.emplace(f.settings, *f.thread, f.log, f.by);
    REQUIRE(f.agents->load().has_value());
    auto taker = agent("a", "http://a/");
    taker.hosts = {"gw.test"};
    const auto done = run(f.agents->declare({taker}, {}));
    REQUIRE(done.has_error());
    CHECK(done.error().code == errc::config_invalid);
    CHECK(done.error().detail == "agent a: \"gw.test\" is a name of the gateway itself; expected another name");
    CHECK(f.agents->find("a") == nullptr);
}

TEST_CASE("A stored agent is not served if the configuration gives its name to another agent, and keeps its record")
{
    auto declared = agent("a", "http://a/");
    declared.hosts = {"x.test"};
    fixture f{{declared}};
    REQUIRE(f.engine->put("s", R"({"url":"http://s/","hosts":["x.test"]})", {"test", {}, {}}).has_value());
    REQUIRE(f.agents->load().has_value());
    REQUIRE(f.agents->find("s") != nullptr);
    CHECK_FALSE(f.agents->find("s")->served());
    CHECK(f.agents->find("s")->problems.front().key == "agent.hosts");
}

TEST_SUITE_END();
