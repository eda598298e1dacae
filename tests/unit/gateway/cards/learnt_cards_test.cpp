#include "gateway/cards/card_editor.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_store.hpp"
#include "tests/unit/gateway/replicas/shared_memory.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/learnt_cards");

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::model::card_answer;

// Counts how often it is asked for its card.
class agent_stub final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request) override
    {
        ++asked;
        if (down) {
            co_return core::upstream_error(errc::upstream_refused, "down");
        }
        co_return net::fetch_response{.status = 200, .headers = {}, .body = card};
    }

    bool down = false;
    int asked = 0;
    std::string card = R"({"name":"one"})";
};

class no_log final : public core::log_sink {
public:
    void write(std::string_view) override {}
};

net::task<> obtain_into(gateway::cards::card_plane& plane, std::optional<card_answer>& out)
{
    out = co_await plane.obtain("a");
}

config::settings settings_of(core::duration ttl)
{
    config::settings settings;
    settings.cards.ttl = ttl;
    settings.cards.min_ttl = 1s;
    core::agent record;
    record.id = "a";
    record.url = "http://agent/";
    settings.agents.push_back(std::move(record));
    return settings;
}

// One of several replicas, of which the test passes the time.
struct replica {
    explicit replica(core::duration ttl = 100s)
        : settings{settings_of(ttl)}
    {
        auto made = std::make_unique<replicas_rig::shared_memory>();
        engine = made.get();
        store.emplace(std::move(made));
        keeper.emplace(loop, *store, log);
        plane.emplace(loop, source, editor, settings.cards, log, [this] { return now; });
        editor.start(nullptr, "http://gateway");
        plane->set_publisher([this](const std::string&, const auto& card) { published = card; });
        plane->set_store(*keeper);
        plane->set_agents(gateway::model::make_snapshot(settings, "http://gateway").value());
    }
    ~replica()
    {
        plane->stop();
        run_until([&] { return !keeper->busy(); });
    }

    bool run_until(const std::function<bool()>& done, std::chrono::milliseconds most = 5s)
    {
        const auto end = std::chrono::steady_clock::now() + most;
        while (!done() && std::chrono::steady_clock::now() < end) {
            loop.io().restart();
            loop.io().run_for(1ms);
        }
        return done();
    }
    void settle()
    {
        run_until([] { return false; }, 30ms);
    }

    void pass(core::duration time)
    {
        now += time;
        plane->on_sweep(now);
        settle();
    }

    card_answer obtain()
    {
        std::optional<card_answer> answer;
        net::asio::co_spawn(loop.get_executor(), obtain_into(*plane, answer), net::asio::detached);
        REQUIRE(run_until([&] { return answer.has_value() && !keeper->busy(); }));
        return *answer;
    }

    // As another replica has kept it.
    store::kept_card kept() { return engine->card("a").value().value(); }

    std::string bytes() const { return published == nullptr ? "" : published->bytes->body; }
    const gateway::cards::card_status& status() const { return *plane->status("a"); }

    config::settings settings;
    agent_stub agent;
    core::steady_time now = std::chrono::steady_clock::now();
    no_log sink;
    core::logger log{sink, core::log_level::error};
    net::loop loop;
    replicas_rig::shared_memory* engine = nullptr;
    std::optional<gateway::threads::store_thread> store;
    gateway::cards::card_editor editor{loop.io(), agent, settings.cards};
    gateway::cards::card_source source{agent, editor, settings};
    std::optional<gateway::cards::card_store> keeper;
    std::optional<gateway::cards::card_plane> plane;
    std::shared_ptr<const gateway::model::published_card> published;
};

}  // namespace

TEST_CASE("A card that another replica has fetched is served with the same bytes and ETag, without a fetch")
{
    replica one;
    replica two;
    REQUIRE(one.obtain().card != nullptr);
    two.plane->learn(one.kept());
    REQUIRE(two.run_until([&] { return two.published != nullptr; }));
    CHECK(two.bytes() == one.bytes());
    CHECK(two.published->bytes->etag == one.published->bytes->etag);
    CHECK(two.obtain().card != nullptr);
    two.pass(6s);
    CHECK(two.agent.asked == 0);
    CHECK(two.status().fetched == 0);
    CHECK(two.engine->card_writes == 0);
}

TEST_CASE("A card that another replica has confirmed is fresh for its time, and is not made again")
{
    replica one;
    replica two;
    REQUIRE(one.obtain().card != nullptr);
    two.plane->learn(one.kept());
    REQUIRE(two.run_until([&] { return two.published != nullptr; }));
    const auto bytes = two.published->bytes;
    two.now += 70s;
    two.plane->learn(one.kept());
    CHECK(two.published->bytes == bytes);
    CHECK(two.published->fresh_until == two.now + 100s);
    two.pass(70s);
    CHECK(two.agent.asked == 0);
    two.pass(30s);
    CHECK(two.agent.asked == 1);
    CHECK(two.status().changes == 1);
}

TEST_CASE("An echo of an own fetch changes nothing")
{
    replica one;
    REQUIRE(one.obtain().card != nullptr);
    const auto before = one.published;
    one.plane->learn(one.kept());
    one.settle();
    CHECK(one.published == before);
    CHECK(one.status().changes == 1);
    CHECK(one.agent.asked == 1);
}

TEST_CASE("A card that has changed elsewhere replaces the one here")
{
    replica one;
    replica two;
    REQUIRE(two.obtain().card != nullptr);
    one.agent.card = R"({"name":"two"})";
    REQUIRE(one.obtain().card != nullptr);
    two.now += 10ms;
    two.plane->learn(one.kept());
    REQUIRE(two.run_until([&] { return two.bytes() == one.bytes(); }));
    CHECK(two.status().changes == 2);
}

TEST_CASE("A card of an agent that is another one here is not taken")
{
    replica one;
    replica two;
    REQUIRE(one.obtain().card != nullptr);
    auto other = one.kept();
    other.source = "http://elsewhere/";
    two.plane->learn(other);
    other = one.kept();
    other.agent = "b";
    two.plane->learn(other);
    two.settle();
    CHECK(two.published == nullptr);
}

TEST_CASE("A replica whose own fetches fail serves what another one has fetched")
{
    replica one;
    replica two;
    REQUIRE(one.obtain().card != nullptr);
    two.agent.down = true;
    CHECK(two.obtain().card == nullptr);
    two.plane->learn(one.kept());
    REQUIRE(two.run_until([&] { return two.published != nullptr; }));
    CHECK(two.obtain().card != nullptr);
    CHECK_FALSE(two.status().failure.has_value());
}

TEST_CASE(
    "Replicas that begin together fetch at different times, and one that begins later fetches nothing that is fresh"
)
{
    replica one;
    CHECK(one.agent.asked == 0);
    one.pass(6s);
    REQUIRE(one.agent.asked == 1);
    REQUIRE(one.run_until([&] { return !one.keeper->busy(); }));
    replica late;
    REQUIRE(late.engine->keep_cards({one.kept()}).has_value());
    late.pass(6s);
    CHECK(late.agent.asked == 0);
    CHECK(late.bytes() == one.bytes());
    late.pass(100s);
    CHECK(late.agent.asked == 1);
}

TEST_SUITE_END();
