#include "gateway/replicas/replica_plane.hpp"

#include "config/settings.hpp"
#include "net/loop/loop.hpp"
#include "tests/unit/gateway/replicas/fake_feed.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/replicas/replica_plane");

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::replicas::replica_plane;
using replicas_rig::fake_feed;
using words = std::vector<std::string>;

class lines final : public core::log_sink {
public:
    void write(std::string_view text) override { all += std::string{text} + '\n'; }
    bool has(std::string_view what) const { return all.find(what) != std::string::npos; }
    std::string all;
};

net::task<std::string> hash_number(int number)
{
    co_return "hash " + std::to_string(number);
}

net::task<> note_all(words& told, std::shared_ptr<const std::vector<store::record>> all)
{
    for (const auto& each : *all) {
        told.push_back("all " + each.id + ' ' + std::to_string(each.version));
    }
    told.emplace_back("that is all");
    co_return;
}

store::live_replica live(std::string name, store::replica_id id, std::string url = {})
{
    return {{id, std::move(name), std::move(url), "9", {}, 0}, 1s};
}

store::feed_change change(std::uint64_t version, store::action what, std::string agent, store::replica_id by = 8)
{
    return {{.version = version, .at = {}, .who = "ann", .what = what, .agent = std::move(agent)}, by};
}

store::document_change document(std::string_view kind, std::string name)
{
    return {std::string{kind}, name, store::kept_document{std::string{kind}, name, {}, "{}"}};
}

store::feed_batch reaching(std::uint64_t agents)
{
    store::feed_batch out;
    out.reached.agents = agents;
    return out;
}

// A plane whose audience writes down what it is told.
struct fixture {
    explicit fixture(core::duration poll = 10ms, core::duration timeout = 3s)
    {
        loop.timers().start();
        plane.emplace(
            loop.timers(),
            gateway::replicas::replica_services{
                loop.get_executor(),
                feed,
                by,
                log,
                [this] { return std::chrono::steady_clock::now() + passed; },
                timeout,
                poll,
                {0, "one", "http://one", "9", {}, 0},
                {},
                [this] { return hash_number(++hashes); }
            },
            audience()
        );
    }
    ~fixture()
    {
        feed.hang(false);
        plane->stop();
        CHECK(run_until([&] { return !plane->busy(); }));
    }

    gateway::replicas::feed_audience audience()
    {
        return {
            .agent =
                [this](const store::feed_change& what, const store::record* now, bool own) {
                    told.push_back(
                        std::string{store::name(what.what.what)} + ' ' + what.what.agent + ' ' +
                        std::to_string(what.what.version) +
                        (now == nullptr ? " gone" : " is " + std::to_string(now->version)) + (own ? " own" : "")
                    );
                },
            .agents = [this](auto all) { return note_all(told, std::move(all)); },
            .documents =
                [this](
                    std::string_view kind,
                    std::vector<store::document_change> all,
                    store::feed_reload why,
                    core::steady_time began
                ) {
                    told.push_back(
                        std::string{kind} + ' ' + std::to_string(all.size()) +
                        (why == store::feed_reload::none ? "" : " of all")
                    );
                    CHECK(began <= std::chrono::steady_clock::now() + passed);
                    return std::exchange(refuses, false) ? false : true;
                },
            .card = [this](const store::kept_card& card) { told.push_back("card " + card.agent); },
            .tasks = [this](const auto& tasks) { told.push_back("tasks " + std::to_string(tasks.size())); },
            .deliveries = [this](const auto& all) { told.push_back("deliveries " + std::to_string(all.size())); },
            .live = [this](auto now) { published.push_back(std::move(now)); }
        };
    }

    bool run_until(const std::function<bool()>& done, std::chrono::milliseconds most = 10s)
    {
        const auto end = std::chrono::steady_clock::now() + most;
        while (!done() && std::chrono::steady_clock::now() < end) {
            loop.io().restart();
            loop.io().run_for(2ms);
        }
        return done();
    }

    using outcome = std::optional<core::result<>>;
    std::shared_ptr<outcome> refresh()
    {
        auto out = std::make_shared<outcome>();
        net::asio::co_spawn(
            loop.get_executor(),
            plane->fresh(),
            [out](const std::exception_ptr& bug, core::result<> how) {
                CHECK_FALSE(bug);
                *out = std::move(how);
            }
        );
        return out;
    }

    std::shared_ptr<bool> wait_for(std::uint64_t version)
    {
        auto out = std::make_shared<bool>(false);
        net::asio::co_spawn(loop.get_executor(), plane->applied(version), [out](const std::exception_ptr& bug) {
            CHECK_FALSE(bug);
            *out = true;
        });
        return out;
    }

    std::string page() const
    {
        gateway::telemetry::metrics all;
        plane->collect(all);
        return gateway::telemetry::text_of(all.take_process());
    }

    core::duration passed{};  // more than the clock says
    fake_feed feed;
    lines sink;
    core::logger log{sink, core::log_level::debug};
    gateway::threads::turns by{0us};
    net::loop loop;
    words told;
    std::vector<gateway::model::replicas_pointer> published;
    int hashes = 0;
    bool refuses = false;
    std::optional<replica_plane> plane;
};

}  // namespace

TEST_CASE("changes of agents come in the order of their versions, each with what the agent is now")
{
    fixture f;
    auto batch = reaching(5);
    batch.changes = {
        change(3, store::action::created, "a"),
        change(4, store::action::created, "b", 7),
        change(5, store::action::deleted, "c")
    };
    batch.records = {{"a", "{}", 3, {}}, {"b", "{}", 4, {}}};
    f.feed.give(std::move(batch));
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.told.size() == 3; }));
    CHECK(f.told == words{"created a 3 is 3", "created b 4 is 4 own", "deleted c 5 gone"});
    REQUIRE(f.run_until([&] { return f.feed.asked_from().size() > 1; }));
    CHECK(f.feed.asked_from()[0].agents == 0);
    CHECK(f.feed.asked_from()[1].agents == 5);
    CHECK(f.page().find("cardea_store_applied_version 5") != std::string::npos);
}

TEST_CASE("what is contained comes before agents, and what was approved of them behind them")
{
    fixture f;
    auto batch = reaching(1);
    batch.changes = {change(1, store::action::created, "a")};
    batch.records = {{"a", "{}", 1, {}}};
    batch.documents = {
        document(store::pins_document, "a"),
        document(store::containment_document, "agent a"),
        document(store::containment_document, "agent b")
    };
    batch.cards = {{"a", {}, {}, {}, {}, {}, {}, {}}, {"b", {}, {}, {}, {}, {}, {}, {}}};
    batch.tasks = {{2, 3, {}}};
    batch.deliveries = {{1, {}, {}, {}, 0, {}}, {2, {}, {}, {}, 0, {}}};
    f.feed.give(std::move(batch));
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.told.size() == 7; }));
    CHECK(
        f.told == words{"containment 2", "created a 1 is 1", "pins 1", "card a", "card b", "tasks 1", "deliveries 2"}
    );
}

TEST_CASE("with a reload everything is what there is, and a database that has lost writes is an error in the log")
{
    fixture f;
    for (const auto why : {store::feed_reload::trimmed, store::feed_reload::regressed}) {
        auto batch = reaching(2);
        batch.reload = why;
        batch.records = {{"a", "{}", 1, {}}, {"b", "{}", 2, {}}};
        f.feed.give(std::move(batch));
    }
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.told.size() == 8; }));
    const words one{"containment 0 of all", "all a 1", "all b 2", "that is all"};
    CHECK(std::equal(one.begin(), one.end(), f.told.begin()));
    CHECK(std::equal(one.begin(), one.end(), f.told.begin() + 4));
    CHECK(f.sink.has(R"("level":"info","event":"store_reloaded")"));
    CHECK(f.sink.has(R"("level":"error","event":"store_regressed")"));
    CHECK(f.page().find(R"(cardea_store_reloads_total{reason="trimmed"} 1)") != std::string::npos);
    CHECK(f.page().find(R"(cardea_store_reloads_total{reason="regressed"} 1)") != std::string::npos);
}

TEST_CASE("documents that cannot be taken yet are asked for again at once")
{
    fixture f{1h};
    f.refuses = true;
    auto batch = reaching(0);
    batch.documents = {document(store::containment_document, "agent a")};
    batch.reached.documents = 9;
    batch.reached.cards = 4;
    f.feed.give(batch);
    f.feed.give(batch);
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.told.size() == 2; }));
    const auto from = f.feed.asked_from();
    CHECK(from[1].documents == 0);
    CHECK(from[1].cards == 4);
}

TEST_CASE("a batch with more behind it is followed by the next one without a pause")
{
    fixture f{1h};
    for (std::uint64_t i = 1; i <= 3; ++i) {
        auto batch = reaching(i);
        batch.more = i < 3;
        f.feed.give(std::move(batch));
    }
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.waits() > 0; }));
    CHECK(f.feed.polls_before_wait == 3);
}

TEST_CASE("what is fresh was asked for after the question, however much there is")
{
    fixture f{1h};
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.waits() > 0; }));
    f.feed.hang(true);
    const auto first = f.refresh();
    REQUIRE_FALSE(f.run_until([&] { return first->has_value(); }, 50ms));
    auto more = reaching(3);
    more.more = true;
    f.feed.give(std::move(more));
    f.feed.give(reaching(4));
    f.feed.hang(false);
    REQUIRE(f.run_until([&] { return first->has_value(); }));
    CHECK(first->value().has_value());
    CHECK(f.page().find("cardea_store_applied_version 4") != std::string::npos);
}

TEST_CASE("a poll that was under way at the question does not make it fresh")
{
    fixture f{1h};
    f.feed.hang(true);
    f.plane->start();
    f.run_until([] { return false; }, 20ms);
    const auto asked = f.refresh();
    f.run_until([] { return false; }, 20ms);
    f.feed.hang(false);
    REQUIRE(f.run_until([&] { return asked->has_value(); }));
    CHECK(f.feed.asked_from().size() >= 2);
}

TEST_CASE("nothing is fresh while the store does not answer, and it is again afterwards")
{
    fixture f{1h};
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.waits() > 0; }));
    f.feed.fail(core::gateway_error(errc::store_unreachable, "away"));
    auto asked = f.refresh();
    REQUIRE(f.run_until([&] { return asked->has_value(); }));
    REQUIRE_FALSE(asked->value().has_value());
    CHECK(asked->value().error().code == errc::store_unreachable);
    f.feed.fail(std::nullopt);
    asked = f.refresh();
    REQUIRE(f.run_until([&] { return asked->has_value(); }));
    CHECK(asked->value().has_value());
}

TEST_CASE("a store that hangs is waited for no longer than its timeout")
{
    fixture f{1h, 150ms};
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.waits() > 0; }));
    f.feed.hang(true);
    const auto began = std::chrono::steady_clock::now();
    const auto asked = f.refresh();
    const auto written = f.wait_for(1);
    REQUIRE(f.run_until([&] { return asked->has_value() && *written; }));
    CHECK_FALSE(asked->value().has_value());
    CHECK(std::chrono::steady_clock::now() - began < 1s);
}

TEST_CASE("whoever has written waits until the change has been applied")
{
    fixture f{1h};
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.waits() > 0; }));
    const auto written = f.wait_for(6);
    f.feed.give(reaching(5));
    REQUIRE_FALSE(f.run_until([&] { return *written; }, 50ms));
    f.feed.give(reaching(6));
    CHECK(f.run_until([&] { return *written; }));
    const auto later = f.wait_for(6);
    CHECK(f.run_until([&] { return *later; }));
}

TEST_CASE("the replica says that it lives, with the hash of its configuration, which a reload changes")
{
    fixture f{20ms};
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.beats().size() == 1; }));
    const auto said = f.feed.beats()[0];
    CHECK(said == store::replica_facts{7, "one", "http://one", "9", "hash 1", 0});
    const config::settings settings;
    f.plane->apply(settings, std::vector<std::string_view>{"log.level"});
    REQUIRE(f.run_until([&] { return f.feed.beats().size() == 2; }));
    CHECK(f.feed.beats()[1].configuration == "hash 2");
}

TEST_CASE("those who live are published when they are others, and listed as they are")
{
    fixture f{10ms};
    f.feed.set_live({live("one", 7, "http://one")});
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.published.size() == 1; }));
    CHECK(f.published[0]->self == 7);
    CHECK(f.published[0]->find(7)->facts.url == "http://one");
    f.feed.set_live({live("one", 7, "http://one"), live("two", 8)});
    REQUIRE(f.run_until([&] { return f.published.size() == 2; }));
    f.feed.give(reaching(12));
    f.feed.set_live({live("one", 7, "http://one"), live("two", 8)});
    f.run_until([] { return false; }, 50ms);
    const auto listed = f.plane->listed();
    REQUIRE(listed.live.size() == 2);
    CHECK(listed.find(7)->facts.applied == 12);
    CHECK(listed.find(8)->silent >= 1s);
    CHECK(f.page().find("cardea_replicas 2") != std::string::npos);
}

TEST_CASE("After an outage those who lived before it are listed until they have had the time to say that they still do")
{
    fixture f{10ms};
    f.feed.set_live({live("one", 7), live("two", 8)});
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.published.size() == 1; }));
    f.feed.fail(core::gateway_error(errc::store_unreachable, "away"));
    f.run_until([] { return false; }, 100ms);
    f.feed.set_live({live("new", 9), live("one", 7)});
    f.feed.fail(std::nullopt);
    REQUIRE(f.run_until([&] { return f.published.size() == 2; }));
    REQUIRE(f.published[1]->live.size() == 3);
    CHECK(f.published[1]->live[0].facts.name == "new");
    CHECK(f.published[1]->find(8)->facts.name == "two");
    f.passed = store::replica_life - 1s;
    f.run_until([] { return false; }, 50ms);
    CHECK(f.published.size() == 2);
    f.passed = store::replica_life;
    REQUIRE(f.run_until([&] { return f.published.size() == 3; }));
    CHECK(f.published[2]->find(8) == nullptr);
}

TEST_CASE("a replica leaves once, behind its end")
{
    fixture f{1h};
    f.plane->start();
    REQUIRE(f.run_until([&] { return f.feed.waits() > 0; }));
    CHECK(f.plane->busy());
    f.plane->stop();
    REQUIRE(f.run_until([&] { return !f.plane->busy(); }));
    CHECK_FALSE(f.feed.left());
    bool left = false;
    net::asio::co_spawn(f.loop.get_executor(), f.plane->leave(), [&](const std::exception_ptr& bug) {
        CHECK_FALSE(bug);
        left = true;
    });
    REQUIRE(f.run_until([&] { return left; }));
    CHECK(f.feed.left());
}

TEST_SUITE_END();
