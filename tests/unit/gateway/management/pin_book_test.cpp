#include "gateway/management/pin_book.hpp"

#include "gateway/model/snapshot.hpp"
#include "mcp/pins/definition.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/gateway/management/containment_rig.hpp"
#include "tests/unit/gateway/replicas/fake_feed.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/pin_book");

namespace {

using containment_rig::lines;
using containment_rig::moody_store;
using gateway::management::pin_book;
using namespace std::chrono_literals;

core::agent server(core::pin_mode mode = core::pin_mode::enforce)
{
    core::agent out;
    out.id = "m";
    out.url = "http://127.0.0.1:9/mcp";
    out.speaks = core::protocol::mcp;
    out.mcp.emplace();
    out.pin.mode = mode;
    return out;
}

std::string tool(const std::string& name, const std::string& words = "w")
{
    return R"({"name":")" + name + R"(","description":")" + words + "\"}";
}

std::shared_ptr<const mcp::server_lists> lists(const std::vector<std::string>& names, const std::string& words = "w")
{
    auto out = std::make_shared<mcp::server_lists>();
    for (const auto& each : names) {
        out->lists[mcp::index_of(mcp::list_kind::tools)].push_back({each, tool(each, words)});
    }
    return out;
}

std::vector<mcp::pin_key> key(const std::string& name)
{
    return {{mcp::pin_kind::tool, name, mcp::print_of_tool(tool(name))->whole}};
}

struct fixture {
    explicit fixture(
        core::agent declared = server(),
        std::unique_ptr<moody_store> with = std::make_unique<moody_store>()
    )
    {
        settings.agents = {std::move(declared)};
        disk = with.get();
        thread.emplace(std::move(with));
        agents.emplace(settings, *thread, log, by);
        agents->set_publisher([this](const std::string&, auto entry) { published = std::move(entry); });
        book.emplace(
            loop.timers(),
            gateway::management::pin_services{
                loop.get_executor(),
                settings,
                *agents,
                *thread,
                log,
                [this] { return wall; },
                [this] { return now; },
                [this](const std::string& id) { cards.push_back(id); }
            }
        );
        book->set_audit(audit);
        agents->set_pins([this](const core::agent& record) { return book->pins_of(record); });
    }

    void start()
    {
        REQUIRE(book->load(*disk).has_value());
        REQUIRE(agents->load().has_value());
        published = agents->find("m")->entry;
    }

    bool run_until(const std::function<bool()>& done)
    {
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (!done() && std::chrono::steady_clock::now() < end) {
            loop.io().restart();
            loop.io().run_for(2ms);
        }
        return done();
    }

    template <class T>
    T run(net::task<T> work)
    {
        std::optional<T> out;
        net::asio::co_spawn(loop.get_executor(), std::move(work), [&](const std::exception_ptr& bug, T value) {
            CHECK_FALSE(bug);
            out.emplace(std::move(value));
        });
        REQUIRE(run_until([&] { return out.has_value(); }));
        return std::move(*out);
    }

    std::size_t shown(const std::shared_ptr<const mcp::server_lists>& seen)
    {
        const auto judged = run(book->judge_lists(published, seen));
        return (*judged)[mcp::list_kind::tools].size();
    }

    std::size_t documents() { return disk->documents(std::string{store::pins_document}).value().size(); }

    config::settings settings;
    lines sink;
    core::logger log{sink, core::log_level::debug};
    lines trail;
    gateway::model::audit_trail audit{&trail};
    core::wall_time wall = containment_rig::noon;
    core::steady_time now{1h};
    net::loop loop;
    moody_store* disk = nullptr;
    std::optional<gateway::threads::store_thread> thread;
    gateway::threads::turns by{10s};
    std::optional<gateway::management::registry> agents;
    std::optional<pin_book> book;
    std::shared_ptr<const gateway::model::agent_entry> published;
    std::vector<std::string> cards;  // that were to be made again
};

}  // namespace

TEST_CASE("An entry with enforce has pins from the first moment, and one without never")
{
    fixture f;
    f.start();
    REQUIRE(f.published->pins != nullptr);
    CHECK_FALSE(f.published->pins->seen());
    CHECK(f.shown(lists({"a"})) == 1);
    CHECK(f.published->pins->admits("a"));
    for (const auto mode : {core::pin_mode::off, core::pin_mode::warn}) {
        fixture other{server(mode)};
        other.start();
        CHECK(other.published->pins == nullptr);
        const auto seen = lists({"a"});
        CHECK(other.run(other.book->judge_lists(other.published, seen)) == seen);
        CHECK(other.published->pins == nullptr);
    }
}

TEST_CASE("An agent that registered itself is held from the first moment until something of it is approved")
{
    auto registered = server();
    registered.registered = true;
    fixture f{std::move(registered)};
    f.start();
    CHECK(f.published->held);
    CHECK(f.shown(lists({"a"})) == 0);
    CHECK(f.published->held);
    REQUIRE(f.run(f.book->approve("m", key("a"), "ann")).has_value());
    CHECK_FALSE(f.published->held);
    CHECK(f.shown(lists({"a"})) == 1);
}

TEST_CASE("An approval of an agent that registered itself is for its addresses")
{
    auto registered = server();
    registered.registered = true;
    fixture f{registered};
    f.start();
    f.shown(lists({"a"}));
    REQUIRE(f.run(f.book->approve("m", key("a"), "ann")).has_value());
    CHECK_FALSE(f.book->pins_of(registered).held);
    auto moved = registered;
    moved.url = "http://127.0.0.1:10/mcp";
    const auto now = f.book->pins_of(moved);
    CHECK(now.held);
    CHECK_FALSE(now.pins->admits("a"));
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.book->pins_of(registered).held);  // back where it was
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.shown(lists({"a"})) == 0);
    REQUIRE(f.run(f.book->approve("m", key("a"), "ann")).has_value());
    CHECK_FALSE(f.book->pins_of(registered).held);
    CHECK(f.shown(lists({"a"})) == 1);
}

TEST_CASE("Approvals are written, and read by the next process")
{
    fixture f;
    f.start();
    CHECK(f.shown(lists({"a"})) == 1);
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    REQUIRE(f.documents() == 1);
    auto next = std::make_unique<moody_store>();
    REQUIRE(next->keep_document(f.disk->documents(std::string{store::pins_document}).value().front()).has_value());
    fixture again{server(), std::move(next)};
    again.start();
    CHECK(again.published->pins->admits("a"));
    CHECK(again.shown(lists({"a", "b"})) == 1);
    CHECK(again.book->held_of("m") == 1);
}

std::unique_ptr<moody_store> shared(store::feed& feed)
{
    auto made = std::make_unique<moody_store>();
    made->feed = &feed;
    return made;
}

TEST_CASE("What one replica approves the others go by, without writing it again")
{
    replicas_rig::fake_feed feed;
    fixture one{server(), shared(feed)};
    fixture two{server(), shared(feed)};
    one.start();
    two.start();
    const auto learn = [&] {
        std::vector<store::document_change> all;
        for (auto& each : one.disk->documents(std::string{store::pins_document}).value()) {
            all.push_back({each.kind, each.name, each});
        }
        two.now += 1ms;
        const bool taken = two.book->learn_kept(std::move(all), two.now);
        REQUIRE(two.run_until([&] { return !two.book->busy(); }));
        return taken;
    };
    CHECK(one.shown(lists({"a"})) == 1);
    CHECK(one.shown(lists({"a", "b"})) == 1);
    REQUIRE(one.run_until([&] { return !one.book->busy(); }));
    CHECK(learn());
    CHECK(two.published->pins->admits("a"));
    CHECK(two.book->held_of("m") == 1);
    REQUIRE(one.run(one.book->approve("m", key("b"), "ann")).has_value());
    CHECK(learn());
    CHECK(two.published->pins->admits("b"));
    CHECK(two.book->held_of("m") == 0);
    CHECK(two.shown(lists({"a", "b"})) == 2);
    CHECK(two.documents() == 0);
    CHECK(two.sink.count("pin_approved") == 0);
    const auto before = two.published;
    CHECK(learn());
    CHECK(two.published == before);
}

TEST_CASE("A card that another replica has approved is made again here only where callers get the approved one")
{
    for (const auto mode : {core::pin_mode::warn, core::pin_mode::enforce}) {
        replicas_rig::fake_feed feed;
        core::agent speaker;
        speaker.id = "m";
        speaker.url = "http://127.0.0.1:9/";
        speaker.pin.mode = mode;
        fixture one{speaker, shared(feed)};
        fixture two{speaker, shared(feed)};
        one.start();
        two.start();
        one.run(one.book->judge_card(one.published, R"({"name":"m"})", "http://127.0.0.1:9/card"));
        REQUIRE(one.run_until([&] { return !one.book->busy(); }));
        auto kept = one.disk->documents(std::string{store::pins_document}).value();
        REQUIRE(kept.size() == 1);
        CHECK(two.book->learn_kept({{kept[0].kind, "m", kept[0]}}, two.now + 1ms));
        REQUIRE(two.run_until([&] { return !two.book->busy(); }));
        CHECK(two.cards.size() == (mode == core::pin_mode::enforce ? 1 : 0));
    }
}

TEST_CASE(
    "What was read before an own approval does not undo it, and the end of an agent takes nothing from the store that "
    "is shared"
)
{
    replicas_rig::fake_feed feed;
    fixture f{server(), shared(feed)};
    f.start();
    f.shown(lists({"a"}));
    f.shown(lists({"a", "b"}));
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    const auto old = f.disk->documents(std::string{store::pins_document}).value().front();
    f.now += 1ms;
    REQUIRE(f.run(f.book->approve("m", key("b"), "ann")).has_value());
    CHECK_FALSE(f.book->learn_kept({{old.kind, old.name, old}}, f.now - 1ms));
    CHECK(f.published->pins->admits("b"));
    CHECK(f.book->learn_kept({{old.kind, "m", std::nullopt}}, f.now + 1ms));
    CHECK(f.published->pins->admits("b"));
    f.book->set_agents(nullptr);
    CHECK(f.documents() == 1);
    auto broken = old;
    broken.text = "{";
    CHECK(f.book->learn_kept({{old.kind, "m", broken}}, f.now + 1ms));
    REQUIRE(f.run_until([&] { return f.sink.count("pins_unusable") == 1; }));
}

TEST_CASE("An approval that the disk refuses holds, says so, and is written again")
{
    fixture f;
    f.start();
    f.shown(lists({"a"}));
    f.shown(lists({"a", "b"}));
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    f.disk->set_fails(true);
    const auto done = f.run(f.book->approve("m", key("b"), "ann"));
    REQUIRE(done.has_value());
    CHECK_FALSE(done->durable);
    CHECK(done->held == 0);
    CHECK(f.published->pins->admits("b"));
    CHECK(f.sink.count("pins_persist_failed") == 1);
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    f.disk->set_fails(false);
    f.now += pin_book::retry_pause;
    f.book->on_due();
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    const auto kept = f.disk->documents(std::string{store::pins_document}).value();
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].text.find(R"("held":[])") != std::string::npos);
    CHECK(f.trail.all.find(R"("event":"pin_approved","agent":"m","by":"ann","items":["tool b )") != std::string::npos);
}

TEST_CASE("An older text that the disk refuses never replaces an approval that was reported durable")
{
    fixture f;
    f.start();
    f.shown(lists({"a"}));
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    f.disk->set_hangs(true);
    f.shown(lists({"a", "b"}));
    std::optional<core::result<pin_book::approval>> done;
    net::asio::co_spawn(
        f.loop.get_executor(),
        f.book->approve("m", key("b"), "ann"),
        [&](const std::exception_ptr& bug, auto outcome) {
            CHECK_FALSE(bug);
            done.emplace(std::move(outcome));
        }
    );
    REQUIRE(f.run_until([&] { return f.sink.count("pin_approved") == 1; }));
    f.disk->set_refused(1);
    f.disk->set_hangs(false);
    REQUIRE(f.run_until([&] { return done.has_value() && !f.book->busy(); }));
    REQUIRE(done->has_value());
    CHECK((*done)->durable);
    f.now += pin_book::retry_pause;
    f.book->on_due();
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(
        f.disk->documents(std::string{store::pins_document}).value().front().text.find(R"("held":[])") !=
        std::string::npos
    );
}

TEST_CASE("Of an agent that is gone the disk keeps nothing, whichever of its writes fails")
{
    for (const std::size_t refused : {0U, 1U, 2U}) {
        CAPTURE(refused);
        fixture f;
        f.start();
        f.disk->set_hangs(true);
        f.shown(lists({"a"}));
        REQUIRE(f.run(f.agents->declare({}, {"m"})).has_value());
        f.book->set_agent("m", nullptr);
        f.disk->set_refused(refused);
        f.disk->set_hangs(false);
        REQUIRE(f.run_until([&] { return !f.book->busy(); }));
        f.now += pin_book::retry_pause;
        f.book->on_due();
        REQUIRE(f.run_until([&] { return !f.book->busy(); }));
        CHECK(f.documents() == 0);
    }
    fixture f;
    f.start();
    f.shown(lists({"a"}));
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    f.disk->set_fails(true);
    REQUIRE(f.run(f.agents->declare({}, {"m"})).has_value());
    f.book->set_agent("m", nullptr);
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.documents() == 1);
    f.disk->set_fails(false);
    f.now += pin_book::retry_pause;
    f.book->on_due();
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.documents() == 0);
}

TEST_CASE("An approval of what does not wait is a conflict, and one of no agent finds none")
{
    fixture f;
    f.start();
    f.shown(lists({"a"}));
    CHECK(f.run(f.book->approve("m", key("z"), "ann")).error().code == core::errc::version_conflict);
    CHECK(f.run(f.book->approve("x", key("z"), "ann")).error().code == core::errc::agent_not_found);
}

TEST_CASE("Changes of an agent are one event in ten seconds")
{
    fixture f{server(core::pin_mode::warn)};
    f.start();
    f.shown(lists({"a"}, "one"));
    f.shown(lists({"a"}, "two"));
    CHECK(f.sink.count(R"("event":"pin_changed")") == 1);
    f.shown(lists({"a", "b"}, "two"));
    f.shown(lists({"a", "b", "c"}, "two"));
    f.now += pin_book::event_interval - 1ms;
    f.book->on_due();
    CHECK(f.sink.count(R"("event":"pin_changed")") == 1);
    f.now += 1ms;
    f.book->on_due();
    CHECK(f.sink.count(R"("event":"pin_changed")") == 2);
    CHECK(f.sink.all.find(R"("changes":2)") != std::string::npos);
    CHECK(f.trail.count(R"("event":"pin_changed")") == 2);
}

TEST_CASE("A store that cannot say what is approved keeps the gateway from starting")
{
    fixture f;
    f.disk->unreadable = true;
    CHECK_FALSE(f.book->load(*f.disk).has_value());
}

TEST_CASE("Approvals that cannot be read approve nothing")
{
    auto disk = std::make_unique<moody_store>();
    REQUIRE(disk->keep_document({std::string{store::pins_document}, "m", "m", "{"}).has_value());
    fixture f{server(), std::move(disk)};
    f.start();
    CHECK(f.sink.count("pins_unusable") == 1);
    CHECK(f.shown(lists({"a"})) == 0);
}

TEST_CASE("What the store has of an agent goes with it, also one that is gone at the start")
{
    auto disk = std::make_unique<moody_store>();
    REQUIRE(disk->keep_document({std::string{store::pins_document}, "gone", "gone", R"({"seen":true})"}).has_value());
    fixture f{server(), std::move(disk)};
    f.start();
    f.shown(lists({"a"}));
    f.book->set_agents(nullptr);
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    REQUIRE(f.documents() == 1);
    CHECK(f.disk->documents(std::string{store::pins_document}).value().front().name == "m");
}

TEST_CASE("An agent that is switched to enforce has at once what was seen of it before")
{
    fixture f{server(core::pin_mode::warn)};
    f.start();
    f.shown(lists({"a"}));
    f.agents->set_publisher([&f](const std::string& id, auto entry) {
        f.book->set_agent(id, entry);
        f.published = std::move(entry);
    });
    REQUIRE(f.run(f.agents->declare({server()}, {})).has_value());
    REQUIRE(f.published->pins != nullptr);
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.published->pins->seen());
    CHECK(f.published->pins->admits("a"));
    CHECK_FALSE(f.published->pins->admits("b"));

    fixture unseen{server(core::pin_mode::warn)};
    unseen.start();
    std::size_t published = 0;
    unseen.agents->set_publisher([&](const std::string& id, const auto& entry) {
        ++published;
        unseen.book->set_agent(id, entry);
    });
    REQUIRE(unseen.run(unseen.agents->declare({server()}, {})).has_value());
    REQUIRE(unseen.run_until([&] { return !unseen.book->busy(); }));
    CHECK_FALSE(unseen.agents->find("m")->entry->pins->seen());
    CHECK(published <= 2);
}

TEST_CASE("A lock file that changes renews the agents of which it says something else, and no other")
{
    const test_support::scratch_directory here;
    const auto set = [&](const std::string& id, const std::string& tool) {
        mcp::lock_file file;
        for (const auto& each : {"m", "n", "card"}) {
            file[each].instructions = mcp::print_of_words("");
            file[each].tools["a"] = key("a")[0].sha256;
            file[each].card = std::string(64, '0');
        }
        file[id].tools = {{tool, key(tool)[0].sha256}};
        test_support::write_whole(here.file("pins.json"), mcp::lock_file_text(file));
    };
    fixture f;
    f.settings.pins.file = here.file("pins.json");
    set("m", "a");
    f.start();
    auto other = server();
    other.id = "n";
    core::agent with_card;
    with_card.id = "card";
    with_card.url = "http://127.0.0.1:9/";
    with_card.pin.mode = core::pin_mode::enforce;
    REQUIRE(f.run(f.agents->declare({other, with_card}, {})).has_value());
    const auto entry_of = [&](const std::string& id) { return f.agents->find(id)->entry; };
    for (const auto& id : {"m", "n"}) {
        f.run(f.book->judge_lists(entry_of(id), lists({"a"})));
        REQUIRE(entry_of(id)->pins->admits("a"));
    }
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    const auto of_m = entry_of("m");
    set("n", "b");
    f.book->apply(f.settings, std::vector<std::string_view>{});
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(entry_of("m") == of_m);
    CHECK_FALSE(entry_of("n")->pins->admits("a"));
    CHECK(f.cards.empty());
    CHECK(f.sink.count("pins_file_applied") == 1);
    f.book->apply(f.settings, std::vector<std::string_view>{});
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.sink.count("pins_file_applied") == 1);
}

TEST_CASE("A renewed entry of an agent with several endpoints holds these, and not the entries before it")
{
    core::agent several;
    several.id = "e";
    several.speaks = core::protocol::a2a;
    several.url = "http://127.0.0.1:9/";
    several.rules.emplace().upstreams = {"http://127.0.0.1:9/", "http://127.0.0.1:10/"};
    const config::settings settings;
    gateway::management::agent_factory factory{settings};
    bool held = false;
    factory.set_pins([&held](const core::agent&) { return gateway::management::entry_pins{nullptr, held}; });
    auto entry = factory.make(several).value();
    REQUIRE(entry->siblings != nullptr);
    const std::weak_ptr<const gateway::model::agent_entry> made = entry;
    held = true;
    entry = factory.pinned(std::move(entry));
    CHECK(entry->held);
    const std::weak_ptr<const gateway::model::agent_entry> first = entry;
    held = false;
    entry = factory.pinned(std::move(entry));
    CHECK_FALSE(entry->held);
    CHECK(first.expired());
    CHECK_FALSE(made.expired());
    CHECK(gateway::model::endpoint_count(*entry) == 2);
}

TEST_CASE("Tools that a caller was listed bring no agent back that is gone")
{
    fixture f;
    auto other = server();
    other.id = "k";
    f.settings.agents.push_back(other);
    f.start();
    // In one turn: a list of `m` is to be compared, and `m` goes.
    f.agents->set_publisher([&f](const std::string& id, const auto& entry) {
        if (id == "k") {
            f.book->note_tools("m", (*lists({"a"}))[mcp::list_kind::tools]);
        }
        f.book->set_agent(id, entry);
    });
    REQUIRE(f.run(f.agents->declare({}, {"k", "m"})).has_value());
    REQUIRE(f.run_until([&] { return !f.book->busy(); }));
    CHECK(f.run(f.book->shown("m", false, core::to_text)).find(R"("held":[])") != std::string::npos);
}

TEST_CASE("What is shown of an agent is written on a thread that serves nobody else")
{
    fixture f;
    f.start();
    f.shown(lists({"a"}));
    std::optional<std::thread::id> where;
    const auto text = f.run(f.book->shown("m", true, [&where](const core::json& pins) {
        where = std::this_thread::get_id();
        return core::to_text(pins);
    }));
    CHECK(text.find(R"("name":"a")") != std::string::npos);
    REQUIRE(where.has_value());
    CHECK(*where != std::this_thread::get_id());
}

TEST_CASE("Sixty-four mebibytes of all agents are kept, and what is beyond waits as pins_full")
{
    gateway::management::pin_desk desk;
    mcp::pin_terms terms;
    terms.mode = core::pin_mode::enforce;
    terms.now = containment_rig::noon;
    const auto large = lists({"a", "b"}, std::string(mcp::most_pinned_bytes / 2 - 100, 'w'));
    constexpr auto agents = mcp::most_pinned_of_all / mcp::most_pinned_bytes;
    for (std::size_t i = 0; i < agents; ++i) {
        CHECK(desk.take_lists("m" + std::to_string(i), large, terms).outcome.view.held[2] == 0);
    }
    CHECK(desk.take_lists("last", large, terms).outcome.view.held[2] == 2);
    CHECK(desk.shown("last", false)["held"][0]["why"] == "pins_full");
    desk.forget("m0");
    CHECK(desk.take_lists("next", large, terms).outcome.view.held[2] == 0);
}

TEST_SUITE_END();
