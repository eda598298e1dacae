#include "gateway/management/registry.hpp"
#include "tests/unit/gateway/management/containment_rig.hpp"
#include "tests/unit/gateway/replicas/shared_memory.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/registry of a store that is shared");

namespace {

using containment_rig::lines;
using core::errc;
using core::json;
using store::action;
using published = std::vector<std::string>;

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

void run(net::task<> what)
{
    net::asio::io_context io;
    bool done = false;
    net::asio::co_spawn(io, std::move(what), [&](const std::exception_ptr& bug) {
        REQUIRE_FALSE(bug);
        done = true;
    });
    io.run();
    REQUIRE(done);
}

core::agent agent(std::string id)
{
    core::agent out;
    out.id = std::move(id);
    out.url = "http://declared/";
    return out;
}

store::record record(std::string id, std::uint64_t version, const std::string& url)
{
    return {std::move(id), core::to_text(json{{"url", url}}), version, core::wall_time{std::chrono::seconds{version}}};
}

// The tests bring the changes, also those of the registry's own writes.
struct fixture {
    explicit fixture(std::vector<core::agent> declared = {})
    {
        settings.agents = std::move(declared);
        auto made = std::make_unique<replicas_rig::shared_memory>();
        engine = made.get();
        thread.emplace(std::move(made));
        agents.emplace(settings, *thread, log, by);
        agents->set_audit(audit);
        agents->set_publisher([this](const std::string& id, std::shared_ptr<const gateway::model::agent_entry> entry) {
            told.push_back(id + ' ' + (entry == nullptr ? "gone" : entry->record.url));
        });
        agents->set_shared({[this](std::uint64_t version) { return bring(version); }, [this] { return refresh(); }});
        REQUIRE(agents->load().has_value());
    }

    // What the feed does.
    net::task<> bring(std::uint64_t version)
    {
        waited_for.push_back(version);
        if (!silent) {
            const auto changes = engine->changes(version - 1, 1).value();
            const auto now = engine->find(changes[0].agent).value();
            agents->apply(changes[0], now ? &*now : nullptr, true);
        }
        co_return;
    }
    net::task<core::result<>> refresh()
    {
        ++refreshes;
        co_return core::result<>{};
    }
    static net::task<> nothing() { co_return; }

    core::result<std::uint64_t> upsert(const std::string& id, const std::string& url)
    {
        auto proposed = agents->propose(id, json{{"url", url}}, "agent");
        REQUIRE(proposed.problems.empty());
        return run(agents->upsert(id, std::move(proposed), {"ann", {}, {}}));
    }

    void apply(
        std::uint64_t version,
        action what,
        const std::string& id,
        std::optional<store::record> now = {},
        bool own = false
    )
    {
        agents->apply({version, {}, "bob", what, id}, now ? &*now : nullptr, own);
    }

    void apply_all(std::vector<store::record> all)
    {
        run(agents->apply_all(std::make_shared<const std::vector<store::record>>(std::move(all))));
    }

    std::string url_of(const std::string& id) const
    {
        const auto* there = agents->find(id);
        return there == nullptr ? "" : there->entry->record.url;
    }

    config::settings settings;
    lines sink;
    core::logger log{sink, core::log_level::debug};
    lines trail;
    gateway::model::audit_trail audit{&trail};
    replicas_rig::shared_memory* engine = nullptr;
    std::optional<gateway::threads::store_thread> thread;
    gateway::threads::turns by{std::chrono::microseconds{0}};
    std::optional<gateway::management::registry> agents;
    published told;
    std::vector<std::uint64_t> waited_for;
    int refreshes = 0;
    bool silent = false;  // the feed brings nothing
};

}  // namespace

TEST_CASE("an own write is served and noted once its change comes, and answered behind that")
{
    fixture f;
    CHECK(f.upsert("a", "http://one/").value() == 1);
    CHECK(f.waited_for == std::vector<std::uint64_t>{1});
    CHECK(f.told == published{"a http://one/"});
    CHECK(f.sink.count(R"("event":"agent_changed","agent":"a","action":"created","version":1,"by":"ann")") == 1);
    CHECK(f.trail.count("agent_created") == 1);
    CHECK(run(f.agents->remove("a", {"ann", {}, {}})).value() == 2);
    CHECK(f.told == published{"a http://one/", "a gone"});
    CHECK(f.trail.count("agent_deleted") == 1);
}

TEST_CASE("a write whose change does not come is answered as written")
{
    fixture f;
    f.silent = true;
    CHECK(f.upsert("a", "http://one/").value() == 1);
    CHECK(f.agents->find("a") == nullptr);
    CHECK(f.sink.count("agent_changed") == 0);
    f.silent = false;
    run(f.bring(1));
    CHECK(f.url_of("a") == "http://one/");
    CHECK(f.sink.count("agent_changed") == 1);
}

TEST_CASE("what another replica has written is served here, and noted there alone")
{
    fixture f;
    f.apply(3, action::created, "a", record("a", 3, "http://one/"));
    f.apply(4, action::updated, "a", record("a", 4, "http://two/"));
    CHECK(f.agents->find("a")->version == 4);
    f.apply(5, action::deleted, "a");
    CHECK(f.told == published{"a http://one/", "a http://two/", "a gone"});
    CHECK(f.sink.count("agent_changed") == 0);
    CHECK(f.trail.all.empty());
}

TEST_CASE(
    "of changes that came at once each agent is what its last one says, and one that was deleted in between was gone"
)
{
    fixture f;
    f.apply(1, action::created, "a", record("a", 1, "http://one/"));
    const auto now = record("a", 4, "http://four/");
    f.apply(2, action::updated, "a", now);
    CHECK(f.url_of("a") == "http://one/");
    f.apply(3, action::deleted, "a", now);
    f.apply(4, action::created, "a", now);
    f.apply(2, action::updated, "a", now);
    CHECK(f.told == published{"a http://one/", "a gone", "a http://four/"});
    f.apply(5, action::created, "b");  // and deleted by a later change
    CHECK(f.agents->find("b") == nullptr);
}

TEST_CASE("an own write that another replica has written over at once has its line")
{
    fixture f;
    f.silent = true;
    auto proposed = f.agents->propose("a", json{{"url", "http://mine/"}}, "agent");
    net::asio::io_context io;
    bool done = false;
    f.agents->set_shared(
        {[&](std::uint64_t version) -> net::task<> {
             f.apply(version, action::created, "a", record("a", version + 1, "http://theirs/"), true);
             return fixture::nothing();
         },
         {}}
    );
    net::asio::co_spawn(
        io,
        f.agents->upsert("a", std::move(proposed), {"ann", {}, {}}),
        [&](const std::exception_ptr& bug, const core::result<std::uint64_t>& how) { done = !bug && how.has_value(); }
    );
    io.run();
    REQUIRE(done);
    CHECK(f.trail.count("agent_created") == 1);
    CHECK(f.sink.count("agent_changed") == 1);
    CHECK(f.agents->find("a") == nullptr);
    f.apply(2, action::updated, "a", record("a", 2, "http://theirs/"));
    CHECK(f.url_of("a") == "http://theirs/");
}

TEST_CASE("an agent of the configuration hides what is written, and shows it again when it goes")
{
    fixture f{{agent("a")}};
    f.apply(1, action::created, "a", record("a", 1, "http://one/"));
    f.apply(2, action::updated, "a", record("a", 2, "http://two/"));
    CHECK(f.told.empty());
    CHECK(f.sink.count("stored_agent_hidden") == 1);
    f.apply(3, action::deleted, "a");
    CHECK(f.url_of("a") == "http://declared/");
    f.apply(4, action::created, "a", record("a", 4, "http://four/"));
    CHECK(f.sink.count("stored_agent_hidden") == 2);
}

TEST_CASE("an agent that cannot be used here is there and is not served")
{
    fixture f;
    auto odd = record("a", 1, "http://one/");
    odd.definition = R"({"url":"gopher://x"})";
    f.apply(1, action::created, "a", odd);
    REQUIRE(f.agents->find("a") != nullptr);
    CHECK_FALSE(f.agents->find("a")->served());
    CHECK(f.sink.count("stored_agent_unusable") == 1);
    f.apply(2, action::updated, "a", record("a", 2, "http://two/"));
    CHECK(f.agents->find("a")->served());
}

TEST_CASE("when everything was read again, what differs changes and nothing else")
{
    fixture f{{agent("d")}};
    f.apply(1, action::created, "a", record("a", 1, "http://a/"));
    f.apply(2, action::created, "b", record("b", 2, "http://b/"));
    f.apply(3, action::created, "c", record("c", 3, "http://c/"));
    f.told.clear();
    auto other = record("c", 3, "http://other/");  // the same version of another history
    other.written += std::chrono::seconds{1};
    f.apply_all({record("a", 1, "http://a/"), other, record("d", 9, "http://d/"), record("e", 8, "http://e/")});
    CHECK(f.told == published{"c http://other/", "e http://e/", "b gone"});
    CHECK(f.url_of("d") == "http://declared/");
    CHECK(f.sink.count("stored_agent_hidden") == 1);
    CHECK(f.trail.all.empty());
    f.apply_all({});
    CHECK(f.agents->all().size() == 1);
}

TEST_CASE("an own write that comes with everything else has its lines")
{
    fixture f;
    f.agents->set_shared(
        {[&](std::uint64_t) {
             return f.agents->apply_all(
                 std::make_shared<const std::vector<store::record>>(std::vector{f.engine->find("a").value().value()})
             );
         },
         {}}
    );
    CHECK(f.upsert("a", "http://one/").value() == 1);
    CHECK(f.url_of("a") == "http://one/");
    CHECK(f.trail.count("agent_created") == 1);
    CHECK(f.sink.count(R"("event":"agent_changed","agent":"a","action":"created","version":1,"by":"ann")") == 1);
}

TEST_CASE("whoever expected another version learns which is there")
{
    fixture f;
    f.engine->refusal = core::caller_error(errc::version_conflict);
    CHECK(f.upsert("a", "http://one/").error().code == errc::version_conflict);
    CHECK(f.refreshes == 1);
    CHECK(f.waited_for.empty());
}

TEST_CASE("a write that may have been carried out is in the log, and its change tells")
{
    fixture f;
    f.engine->refusal = core::gateway_error(errc::write_unknown, "lost");
    CHECK(f.upsert("a", "http://one/").error().code == errc::write_unknown);
    CHECK(f.sink.count(R"("event":"store_write_failed","agent":"a","code":"write_unknown")") == 1);
    f.engine->refusal = core::gateway_error(errc::store_unreachable, "away");
    CHECK(f.upsert("a", "http://one/").error().code == errc::store_unreachable);
    CHECK(f.engine->finds == 0);
    auto writes = f.thread->writes();
    CHECK(*writes.of(errc::write_unknown) == 1);
    CHECK(*writes.of(errc::store_unreachable) == 1);
    CHECK(writes.of(errc::version_conflict) == nullptr);
    CHECK(writes.trouble == errc::store_unreachable);
}

TEST_SUITE_END();
