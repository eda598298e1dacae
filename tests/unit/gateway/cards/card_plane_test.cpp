// over 600 lines: one plane, with agents and sessions that do what a test says.
#include "gateway/cards/card_plane.hpp"

#include "gateway/cards/card_editor.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/management/json_records.hpp"
#include "jose/digest.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_plane");

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::model::card_answer;
using gateway::model::card_use;

// The agents, instead of the network: all of them answer alike.
class agents_stub final : public net::fetcher {
public:
    explicit agents_stub(net::loop& loop)
        : held_{loop.get_executor(), core::steady_time::max()}
    {
    }

    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        ++asked[request.url];
        ++under_way;
        if (silent) {
            boost::system::error_code ended;
            co_await held_.async_wait(boost::asio::redirect_error(net::use_task, ended));
        }
        --under_way;
        if (down) {
            co_return core::upstream_error(errc::upstream_refused, "down");
        }
        const auto& sent = request.headers;
        if (std::find(sent.begin(), sent.end(), std::pair{std::string{"If-None-Match"}, tag}) != sent.end()) {
            co_return net::fetch_response{.status = 304, .headers = {}, .body = {}};
        }
        net::fetch_response answer{.status = 200, .headers = {}, .body = R"({"name":")" + name + R"("})"};
        if (!tag.empty()) {
            answer.headers.emplace_back("etag", tag);
        }
        co_return answer;
    }

    void answer_all() { held_.cancel(); }

    bool down = false;
    bool silent = false;
    std::string name = "first";
    std::string tag;  // of the card; empty: none
    int under_way = 0;
    std::map<std::string, int> asked;

private:
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        held_;
};

// Has cards made by the editor, and while it is slow only when released.
class slow_maker final : public gateway::cards::card_maker {
public:
    explicit slow_maker(gateway::cards::card_editor& editor)
        : editor_{editor}
    {
    }

    net::task<core::result<gateway::cards::served_card>>
    make(std::shared_ptr<const core::agent> agent, gateway::cards::card_document document) override
    {
        co_await hold();
        co_return co_await editor_.make(std::move(agent), std::move(document));
    }

    net::task<core::result<gateway::cards::served_card>>
    make_of_lists(std::shared_ptr<const core::agent> agent, gateway::cards::listed_card listed) override
    {
        co_await hold();
        if (refuses_lists) {
            co_return core::upstream_error(errc::card_too_large);
        }
        co_return co_await editor_.make_of_lists(std::move(agent), std::move(listed));
    }

    net::task<core::result<std::string>>
    compare(std::shared_ptr<const core::agent> agent, gateway::cards::card_pair cards) override
    {
        co_return co_await editor_.compare(std::move(agent), std::move(cards));
    }

    net::task<core::result<std::string>>
    explain(std::shared_ptr<const core::agent> agent, gateway::cards::shown_card card) override
    {
        co_return co_await editor_.explain(std::move(agent), std::move(card));
    }

    void release()
    {
        slow = false;
        for (auto* const each : std::exchange(held_, {})) {
            each->set();
        }
    }

    std::size_t held() const noexcept { return held_.size(); }

    bool slow = false;
    bool refuses_lists = false;
    int throws = 0;  // how many of the next makings throw

private:
    net::task<> hold()
    {
        net::task_signal go;
        if (slow) {
            held_.push_back(&go);
            co_await go.wait();
        }
        if (throws > 0) {
            --throws;
            throw std::runtime_error{"no memory"};  // beside the editor, which makes an error of it
        }
    }

    gateway::cards::card_editor& editor_;
    std::vector<net::task_signal*> held_;
};

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

net::task<> obtain_into(gateway::cards::card_plane& plane, std::optional<card_answer>& out)
{
    out = co_await plane.obtain("agent-0");
}

struct rig {
    explicit rig(
        std::size_t agents = 1,
        std::uint64_t background = 32,
        const core::boxed<core::mcp_server>& server = {}
    )
    {
        settings.cards.background = background;
        for (std::size_t i = 0; i < agents; ++i) {
            core::agent agent;
            agent.id = "agent-" + std::to_string(i);
            agent.url = "http://" + agent.id + "/";
            agent.card_url = agent.url + "card";
            if (server) {
                agent.speaks = core::protocol::mcp;
                agent.mcp = server;
            }
            settings.agents.push_back(std::move(agent));
        }
        editor.start(nullptr, "http://gateway");
        plane.set_publisher([this](const std::string&, const auto& card) {
            published += card != nullptr ? 1 : 0;
            held = card;
        });
        auto made = gateway::model::make_snapshot(settings, "http://gateway");
        REQUIRE(made.has_value());
        plane.set_agents(*made);
    }

    ~rig()
    {
        plane.stop();
        agents.answer_all();
        maker.release();
        run();
    }

    void list(const mcp::server_lists& lists)
    {
        plane.set_session_card("agent-0", std::make_shared<const mcp::server_lists>(lists), [this](bool is_card) {
            told.push_back(is_card);
        });
        run();
    }

    void change(core::agent changed)
    {
        net::client_contexts contexts;
        plane.set_agent("agent-0", *gateway::model::make_entry(changed, {1s}, contexts));
        run();
    }

    void run()
    {
        loop.io().restart();
        loop.io().poll();
    }

    // As if the loop had swept so much later.
    void pass(core::duration time)
    {
        now += time;
        plane.on_sweep(now);
        run();
    }

    // What a caller gets without waiting.
    std::optional<card_answer> obtained()
    {
        auto& out = answers.emplace_back();
        net::asio::co_spawn(loop.get_executor(), obtain_into(plane, out), net::asio::detached);
        run();
        return out;
    }

    std::string name()
    {
        const auto got = obtained();
        return got && got->card ? a2a::parse_card(got->card->bytes->body)->document["name"].get<std::string>() : "";
    }

    core::steady_time now{};
    config::settings settings;
    net::loop loop;
    agents_stub agents{loop};
    kept_log sink;
    core::logger log{sink, core::log_level::info};
    gateway::cards::card_editor editor{loop.io(), agents, settings.cards};
    slow_maker maker{editor};
    gateway::cards::card_source source{agents, maker, settings};
    gateway::cards::card_plane plane{loop, source, maker, settings.cards, log, [this] { return now; }};
    int published = 0;
    std::shared_ptr<const gateway::model::published_card> held;  // by the workers
    std::vector<bool> told;                                      // what list() came to
    std::list<std::optional<card_answer>> answers;               // who waits, writes here later
};

}  // namespace

TEST_CASE("a card is there before anybody asks, and is fetched again before it is stale")
{
    rig x;
    x.pass(0ms);
    CHECK(x.agents.asked.size() == 1);
    CHECK(x.published == 1);
    CHECK(x.obtained()->use == card_use::hit);
    x.agents.name = "second";
    for (auto waited = 0s; waited < 5min; waited += 1s) {
        CHECK(x.obtained()->use == card_use::hit);
        x.pass(1s);
    }
    CHECK(x.name() == "second");
    CHECK(x.agents.asked.at("http://agent-0/card") == 2);
}

TEST_CASE("A card that its agent calls unchanged is fetched again before it is stale, each time")
{
    rig x;
    x.agents.tag = "\"1\"";
    for (auto waited = 0s; waited < 20min; waited += 1s) {
        x.pass(1s);
        CHECK(x.obtained()->use == card_use::hit);
    }
    const auto* status = x.plane.status("agent-0");
    CHECK(status->fetched >= 4);
    CHECK(status->not_modified == status->fetched - 1);
}

TEST_CASE("Who has a card fetched too soon is refused, and does not put off the next time")
{
    rig x;
    CHECK(x.plane.may_be_fetched("agent-0"));
    x.now += x.settings.cards.min_ttl - 1ms;
    CHECK_FALSE(x.plane.may_be_fetched("agent-0"));
    x.now += 1ms;
    CHECK(x.plane.may_be_fetched("agent-0"));
}

TEST_CASE("with cards.background of 0 a card is fetched when somebody asks, and not before")
{
    rig x{1, 0};
    x.pass(0ms);
    x.pass(24h);
    CHECK(x.agents.asked.empty());
    CHECK(x.obtained()->use == card_use::miss);
    x.pass(24h);
    CHECK(x.agents.asked.at("http://agent-0/card") == 1);
}

TEST_CASE("an outage of thirty minutes is invisible to callers")
{
    rig x;
    x.pass(0ms);
    x.agents.down = true;
    int failed = 0;
    for (auto waited = 0s; waited < 30min; waited += 1s) {
        x.pass(1s);
        const auto got = x.obtained();
        REQUIRE(got.has_value());  // nobody waits
        REQUIRE(got->card != nullptr);
        failed += got->failure ? 1 : 0;
    }
    CHECK(failed > 1400);  // stale ones say why
    CHECK(x.plane.status("agent-0")->failures.front().first == errc::upstream_refused);
    x.agents.down = false;
    x.agents.name = "recovered";
    for (auto waited = 0s; waited < 8min && x.name() != "recovered"; waited += 1s) {
        x.pass(1s);
    }
    CHECK(x.name() == "recovered");
}

TEST_CASE("The workers hold a card that they may serve as stale, as long as the control loop would serve it")
{
    using gateway::model::card_standing;
    rig x{1, 0};
    const auto standing = [&] { return x.held ? standing_of(*x.held, x.now) : card_standing::expired; };
    CHECK(x.obtained()->use == card_use::miss);
    CHECK(standing() == card_standing::fresh);
    x.now += x.settings.cards.ttl;
    CHECK(standing() == card_standing::refreshing);
    CHECK_FALSE(x.held->failure.has_value());
    x.agents.down = true;
    for (const bool again : {false, true}) {
        x.plane.refresh_stale("agent-0");
        x.plane.refresh_stale("agent-0");
        x.run();
        CHECK(x.agents.asked.at("http://agent-0/card") == (again ? 3 : 2));
        CHECK(standing() == card_standing::stale);
        CHECK(x.held->failure == errc::upstream_refused);
        CHECK(x.obtained()->use == card_use::stale);
        x.plane.refresh_stale("agent-0");  // of a worker that has not heard of the failure
        x.run();
        CHECK(x.agents.asked.at("http://agent-0/card") == (again ? 3 : 2));
        x.now += x.settings.cards.negative_ttl;
        CHECK(standing() == card_standing::refreshing);
    }
    x.now = x.held->usable_until;
    CHECK(standing() == card_standing::expired);
    x.agents.down = false;
    CHECK(x.obtained()->use == card_use::miss);
    CHECK(standing() == card_standing::fresh);
    x.plane.refresh_stale("nobody");
}

TEST_CASE("The workers hold no card whose agent fails while none may be served as stale")
{
    rig x{1, 0};
    x.settings.cards.stale_if_error = 0s;
    CHECK(x.obtained()->use == card_use::miss);
    x.now += x.settings.cards.ttl;
    REQUIRE(x.held != nullptr);
    x.agents.down = true;
    x.plane.refresh_stale("agent-0");
    x.run();
    CHECK(x.held == nullptr);
    CHECK(x.obtained()->card == nullptr);
    x.agents.down = false;
    x.now += x.settings.cards.negative_ttl;
    CHECK(x.obtained()->use == card_use::miss);
    CHECK(x.held != nullptr);
}

TEST_CASE("an outage longer than stale_if_error is a refusal, and the agent is not asked for each of them")
{
    rig x;
    x.pass(0ms);
    x.agents.down = true;
    while (x.now < core::steady_time{} + 5min + 1h) {
        x.pass(10s);
    }
    const auto got = x.obtained();
    REQUIRE(got.has_value());
    CHECK(got->card == nullptr);
    REQUIRE(got->failure.has_value());
    CHECK(got->failure->code == errc::upstream_refused);
    const auto asked = x.agents.asked.at("http://agent-0/card");
    for (int i = 0; i < 100; ++i) {
        CHECK(x.obtained()->failure.has_value());
    }
    CHECK(x.agents.asked.at("http://agent-0/card") <= asked + 1);
}

TEST_CASE("so many fetches as cards.background are begun unasked, and the others later")
{
    rig x{10, 3};
    x.agents.silent = true;
    x.pass(1s);
    CHECK(x.agents.under_way == 3);
    x.pass(1s);
    CHECK(x.agents.under_way == 3);
    CHECK_FALSE(x.obtained().has_value());  // the caller waits for a fetch of its own if it has to
    CHECK(x.agents.under_way <= 4);
    x.agents.silent = false;
    x.agents.answer_all();
    x.run();
    for (int i = 0; i < 10; ++i) {
        x.pass(100ms);
    }
    CHECK(x.agents.asked.size() == 10);
    CHECK(x.published == 10);
}

TEST_CASE("a thousand callers that miss one card are one fetch")
{
    rig x{1, 0};
    x.agents.silent = true;
    std::vector<std::optional<card_answer>> got(1000);
    for (auto& each : got) {
        net::asio::co_spawn(x.loop.get_executor(), obtain_into(x.plane, each), net::asio::detached);
    }
    x.run();
    CHECK(x.agents.under_way == 1);
    x.agents.answer_all();
    x.run();
    for (const auto& each : got) {
        REQUIRE(each.has_value());
        CHECK(each->card == got.front()->card);
        CHECK(each->card != nullptr);
    }
    CHECK(x.agents.asked.at("http://agent-0/card") == 1);
}

TEST_CASE("an agent that is gone is not asked any more")
{
    rig x;
    x.pass(0ms);
    config::settings none;
    x.plane.set_agents(*gateway::model::make_snapshot(none, "http://gateway"));
    x.pass(24h);
    CHECK(x.agents.asked.at("http://agent-0/card") == 1);
    CHECK(x.obtained()->failure->code == errc::agent_not_found);
}

TEST_CASE("who waits for the card of an agent that changes meanwhile gets the card of the changed one")
{
    rig x;
    x.agents.silent = true;
    std::optional<card_answer> got;
    net::asio::co_spawn(x.loop.get_executor(), obtain_into(x.plane, got), net::asio::detached);
    x.run();
    CHECK(x.agents.under_way == 1);
    auto changed = x.settings.agents.front();
    changed.card_url = "http://agent-0/other";
    net::client_contexts contexts;
    x.plane.set_agent("agent-0", *gateway::model::make_entry(changed, {1s}, contexts));
    x.agents.silent = false;
    x.agents.answer_all();
    x.run();
    REQUIRE(got.has_value());
    CHECK(got->card != nullptr);
    CHECK(x.agents.asked.at("http://agent-0/other") == 1);
}

TEST_CASE("the card of a session may be kept by caches that ask each time, a private one by the caller's own only")
{
    rig x{1, 0, core::mcp_server{}};
    mcp::server_lists lists;
    lists.server.name = "lists";
    x.list(lists);
    CHECK(x.obtained()->card->caching == gateway::model::card_caching::asking);
    lists.shareable = false;
    x.list(lists);
    CHECK(x.obtained()->card->caching == gateway::model::card_caching::asking_alone);
    CHECK(x.plane.status("agent-0")->changes == 1);
    x.now += 24h;
    const auto got = x.obtained();
    CHECK(got->use == card_use::hit);
    CHECK(got->card->caching == gateway::model::card_caching::asking_alone);
    CHECK(got->card->fetched_at == x.now);
}

TEST_CASE(
    "what a session vouched for is of no use once it is gone, but where the operator says so, and ages from then on"
)
{
    for (const bool counts : {false, true}) {
        CAPTURE(counts);
        core::mcp_server server;
        server.stale_if_error = counts;
        rig x{1, 0, server};
        x.list({});
        const auto* status = x.plane.status("agent-0");
        CHECK(gateway::management::card_summary(*status, x.now)["state"] == "fresh");
        x.now += 4min;
        x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_crashed));
        x.now += 10s;
        x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_not_ready));
        CHECK((x.obtained()->card != nullptr) == counts);
        CHECK(x.obtained()->failure->code == errc::session_not_ready);
        const auto shown = gateway::management::card_summary(*status, x.now);
        CHECK(shown["state"] == (counts ? "stale" : "failed"));
        CHECK(shown["age_seconds"] == 10);
        x.now += x.settings.cards.stale_if_error - 10s;
        CHECK(x.obtained()->card == nullptr);
        CHECK(gateway::management::card_summary(*status, x.now)["state"] == "failed");
        x.plane.set_session_trouble("agent-0", std::nullopt);
        CHECK(x.obtained()->use == card_use::hit);
        CHECK(gateway::management::card_summary(*status, x.now + 1h)["state"] == "fresh");
    }
}

TEST_CASE("what a server says of itself is logged without what it was given, and cut")
{
    core::mcp_server server;
    server.environment = {{"API_KEY", core::secret{"hunter2-hunter2"}}};
    for (const std::size_t letters : {255U, 256U, 257U, 20000U}) {
        CAPTURE(letters);
        rig x{1, 0, server};
        mcp::server_lists lists;
        lists.server.version = std::string(letters, 'v');
        x.list(lists);
        const auto shown = R"("version":")" + std::string(std::min<std::size_t>(letters, 256), 'v') + '"';
        CHECK(x.sink.text.find(shown) != std::string::npos);
        lists.server.version = std::string(250, 'v') + "hunter2-hunter2";
        lists.server.protocol_version = "hunter2-hunter2";
        x.list(lists);
        CHECK(x.sink.text.find("hunter2") == std::string::npos);
        CHECK(x.sink.text.find(R"("protocol_version":"********")") != std::string::npos);
        CHECK(x.sink.text.size() < 3000);
    }
}

TEST_CASE("the card of a session stays while its agent changes, unless the server is another one")
{
    rig x{1, 0, core::mcp_server{}};
    x.list({});
    net::client_contexts contexts;
    auto changed = x.settings.agents.front();
    changed.metadata = R"({"tags":["new"]})";
    x.plane.set_agent("agent-0", *gateway::model::make_entry(changed, {1s}, contexts));
    CHECK(x.obtained()->use == card_use::hit);
    CHECK(x.plane.status("agent-0")->changes == 1);
    changed.url = "http://elsewhere/";
    x.plane.set_agent("agent-0", *gateway::model::make_entry(changed, {1s}, contexts));
    CHECK(x.obtained()->card == nullptr);
}

TEST_CASE("the card of a session that shows a tool too many is not served as stale when the server goes away")
{
    core::mcp_server server;
    server.stale_if_error = true;
    rig x{1, 0, server};
    x.list({});
    x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_crashed));
    CHECK(x.obtained()->use == card_use::stale);
    auto changed = x.settings.agents.front();
    changed.skills.push_back({.id = "*", .visibility = core::skill_visibility::extended, .required_scopes = {}});
    x.change(changed);
    CHECK(x.obtained()->card == nullptr);
    x.list({});
    CHECK(x.obtained()->use == card_use::hit);
}

TEST_CASE("The cards that are chosen are made again, a turn at a time, and what else a loop does comes in between")
{
    rig x{64, 64};
    x.pass(1s);
    REQUIRE(x.published == 64);
    gateway::threads::turns by{std::chrono::microseconds{0}};
    int withdrawn = 0;
    int most_between = 0;
    x.plane.set_publisher([&](const std::string&, const auto& card) { withdrawn += card == nullptr ? 1 : 0; });
    const auto chosen = [](const core::agent& agent) { return agent.id.ends_with('0') || agent.id.ends_with('5'); };
    x.plane.make_again(chosen, by);
    CHECK(withdrawn == 0);
    std::function<void(int)> other = [&](int before) {
        most_between = std::max(most_between, withdrawn - before);
        if (x.plane.busy()) {
            net::asio::post(x.loop.io(), [&, now = withdrawn] { other(now); });
        }
    };
    other(0);
    x.run();
    CHECK_FALSE(x.plane.busy());
    CHECK(withdrawn == 13);
    CHECK(most_between <= 4);  // agents that stand in one bucket
    CHECK(x.obtained()->use == card_use::miss);
    CHECK(x.agents.asked.at("http://agent-0/card") == 2);
    CHECK(x.agents.asked.at("http://agent-1/card") == 1);
}

TEST_CASE("Agents may come and go while cards are made again, and the end of the plane ends it")
{
    rig x{64, 64};
    x.pass(1s);
    gateway::threads::turns by{std::chrono::microseconds{0}};
    std::size_t asked = 0;
    x.plane.make_again([&](const core::agent&) { return ++asked > 0; }, by);
    while (asked < 8) {
        x.loop.io().restart();
        x.loop.io().poll_one();
    }
    auto others = x.settings;
    others.agents.resize(4);
    for (int i = 0; i < 500; ++i) {
        others.agents.push_back(others.agents.front());
        others.agents.back().id = "new-" + std::to_string(i);
    }
    x.plane.set_agents(*gateway::model::make_snapshot(others, "http://gateway"));
    x.run();
    CHECK_FALSE(x.plane.busy());
    CHECK(asked >= 504);
    x.plane.make_again([&](const core::agent&) { return ++asked > 0; }, by);
    const auto before = asked;
    x.plane.stop();
    x.run();
    CHECK_FALSE(x.plane.busy());
    CHECK(asked == before);
}

TEST_CASE("each change of a card is one line that says what callers are told, and not the card")
{
    rig x;
    x.agents.name =
        R"(Named","version":"1.2","url":"http://agent-0/rpc","capabilities":{"streaming":true,)"
        R"("pushNotifications":true},"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"}},)"
        R"("skills":[],"description":"told to nobody)";
    x.pass(0ms);
    const auto card = x.obtained()->card;
    REQUIRE(card != nullptr);
    for (const auto& each :
         {std::string{R"("event":"card_published","agent":"agent-0","name":"Named","version":"1.2")"},
          std::string{R"("url":"http://gateway/agents/agent-0")"},
          std::string{R"("capabilities":"streaming,pushNotifications","security_schemes":"key")"},
          std::string{R"("sha256":")"} + jose::sha256_hex(card->bytes->body) + '"'}) {
        CAPTURE(each);
        CHECK(x.sink.text.find(each) != std::string::npos);
    }
    CHECK(x.sink.text.find("told to nobody") == std::string::npos);
    x.pass(10min);
    x.pass(10min);
    const auto first = x.sink.text.find("card_published");
    CHECK(x.agents.asked.at("http://agent-0/card") >= 2);
    CHECK(x.sink.text.find("card_published", first + 1) == std::string::npos);
}

TEST_CASE("A card that the operator wrote is made once, and callers wait for it meanwhile")
{
    rig x;
    x.maker.slow = true;
    auto written = x.settings.agents.front();
    written.card = R"({"name":"written"})";
    x.change(written);
    CHECK(x.maker.held() == 1);
    CHECK_FALSE(x.obtained().has_value());
    CHECK_FALSE(x.obtained().has_value());
    CHECK(x.maker.held() == 1);
    x.maker.release();
    x.run();
    for (const auto& each : x.answers) {
        REQUIRE(each.has_value());
        CHECK(each->use == card_use::hit);
    }
    x.maker.slow = true;
    x.now += 24h;
    CHECK(x.name() == "written");
    CHECK(x.obtained()->card->fetched_at == x.now);
    CHECK(x.maker.held() == 0);
    CHECK(x.plane.status("agent-0")->changes == 1);
}

TEST_CASE("A card that comes back for an agent that has changed meanwhile is dropped")
{
    rig x;
    auto written = x.settings.agents.front();
    written.card = R"({"name":"old"})";
    x.maker.slow = true;
    x.change(written);
    CHECK_FALSE(x.obtained().has_value());
    const auto before = x.published;
    written.card = R"({"name":"new"})";
    x.change(written);
    CHECK(x.maker.held() == 2);
    x.maker.release();
    x.run();
    CHECK(x.published >= before + 1);
    CHECK(x.sink.text.find("\"old\"") == std::string::npos);
    REQUIRE(x.answers.front().has_value());
    CHECK(x.answers.front()->card->bytes->body.find("new") != std::string::npos);
    CHECK(x.name() == "new");
}

TEST_CASE("A card that comes back for an agent that is gone is dropped")
{
    rig x;
    auto written = x.settings.agents.front();
    written.card = R"({"name":"old"})";
    x.maker.slow = true;
    x.change(written);
    CHECK_FALSE(x.obtained().has_value());
    x.plane.set_agent("agent-0", nullptr);
    x.maker.release();
    x.run();
    CHECK(x.published == 0);
    REQUIRE(x.answers.front().has_value());
    CHECK(x.answers.front()->failure->code == errc::agent_not_found);
}

TEST_CASE("Of a thousand written cards 32 are made at a time, and one that somebody asks for at once")
{
    rig x{0};
    config::settings many;
    for (int i = 0; i < 1000; ++i) {
        core::agent agent;
        agent.id = "agent-" + std::to_string(i);
        agent.card = R"({"name":"n"})";
        many.agents.push_back(std::move(agent));
    }
    x.maker.slow = true;
    x.plane.set_agents(*gateway::model::make_snapshot(many, "http://gateway"));
    x.run();
    CHECK(x.maker.held() == 32);
    x.obtained();
    CHECK(x.maker.held() <= 33);
    x.maker.release();
    x.run();
    CHECK(x.published >= 1000);
    CHECK(x.name() == "n");
}

TEST_CASE("Whoever waits for a written card gets an answer when its making throws, and it can be made again")
{
    rig x;
    auto written = x.settings.agents.front();
    written.card = R"({"name":"written"})";
    x.maker.slow = true;
    x.maker.throws = 1;
    x.change(written);
    CHECK_FALSE(x.obtained().has_value());
    x.maker.release();
    x.run();
    REQUIRE(x.answers.front().has_value());
    REQUIRE(x.answers.front()->failure.has_value());
    CHECK(x.answers.front()->failure->code == errc::internal);
    CHECK(x.sink.text.find("written_card") != std::string::npos);
    net::asio::co_spawn(x.loop.get_executor(), x.plane.refresh("agent-0"), net::asio::detached);
    x.run();
    CHECK(x.name() == "written");
}

TEST_CASE("Written cards whose making throws leave their places to the next ones")
{
    rig x{0};
    config::settings many;
    for (int i = 0; i < 100; ++i) {
        core::agent agent;
        agent.id = "agent-" + std::to_string(i);
        agent.card = R"({"name":"n"})";
        many.agents.push_back(std::move(agent));
    }
    x.maker.slow = true;
    x.maker.throws = 100;
    x.plane.set_agents(*gateway::model::make_snapshot(many, "http://gateway"));
    x.run();
    REQUIRE(x.maker.held() == 32);
    x.maker.release();
    x.run();
    for (int i = 0; i < 100; ++i) {
        CHECK(x.plane.status("agent-" + std::to_string(i))->failure.has_value());
    }
}

TEST_CASE("A session whose card's making throws is told so, and its next lists make a card")
{
    rig x{1, 0, core::mcp_server{}};
    x.maker.slow = true;
    x.maker.throws = 1;
    x.list({});
    CHECK_FALSE(x.obtained().has_value());
    x.maker.release();
    x.run();
    CHECK(x.told == std::vector<bool>{false});
    REQUIRE(x.answers.front().has_value());
    REQUIRE(x.answers.front()->failure.has_value());
    CHECK(x.answers.front()->failure->code == errc::internal);
    x.list({});
    CHECK(x.told == std::vector<bool>{false, true});
    CHECK(x.obtained()->use == card_use::hit);
}

TEST_CASE("Lists that come while the making of older ones throws make a card")
{
    rig x{1, 0, core::mcp_server{}};
    x.maker.slow = true;
    x.maker.throws = 1;
    x.list({});
    x.list({});
    x.maker.release();
    x.run();
    CHECK(x.told == std::vector<bool>{false, true});
    CHECK(x.obtained()->use == card_use::hit);
}

TEST_CASE("Who asks for the card of a session while it is made waits for it, and gets that of the latest lists")
{
    rig x{1, 0, core::mcp_server{}};
    mcp::server_lists lists;
    lists.server.version = "1";
    x.maker.slow = true;
    x.list(lists);
    CHECK_FALSE(x.obtained().has_value());
    for (const auto* version : {"2", "3"}) {
        lists.server.version = version;
        x.list(lists);
    }
    CHECK(x.maker.held() == 1);
    CHECK(x.told.empty());
    x.maker.release();
    x.run();
    CHECK(x.told == std::vector<bool>{true, true, true});
    REQUIRE(x.answers.front().has_value());
    CHECK(x.answers.front()->card->bytes->body.find(R"("version":"3")") != std::string::npos);
    CHECK(x.plane.status("agent-0")->changes == 2);
}

TEST_CASE("A session that is lost while its card is made does not vouch for it")
{
    rig x{1, 0, core::mcp_server{}};
    x.maker.slow = true;
    x.list({});
    x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_crashed));
    CHECK(x.obtained()->failure->code == errc::session_crashed);
    x.maker.release();
    x.run();
    CHECK(x.told == std::vector<bool>{true});
    CHECK(x.obtained()->failure->code == errc::session_crashed);
    CHECK(x.obtained()->card == nullptr);
    x.plane.set_session_trouble("agent-0", std::nullopt);
    CHECK(x.obtained()->use == card_use::hit);
}

TEST_CASE("A session that lists again after it was lost vouches for the card of these lists")
{
    rig x{1, 0, core::mcp_server{}};
    x.list({});
    x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_crashed));
    mcp::server_lists lists;
    lists.server.version = "new";
    x.list(lists);
    CHECK(x.told == std::vector<bool>{true, true});
    const auto got = x.obtained();
    CHECK(got->use == card_use::hit);
    REQUIRE(got->card != nullptr);
    CHECK(got->card->bytes->body.find(R"("version":"new")") != std::string::npos);
}

TEST_CASE("A session that is well again while its card is made gives no older card")
{
    rig x{1, 0, core::mcp_server{}};
    mcp::server_lists lists;
    lists.server.version = "old";
    x.list(lists);
    x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_crashed));
    x.maker.slow = true;
    lists.server.version = "new";
    x.list(lists);
    const auto published = x.published;
    x.plane.set_session_trouble("agent-0", std::nullopt);
    CHECK(x.published == published);
    CHECK_FALSE(x.obtained().has_value());
    x.maker.release();
    x.run();
    CHECK(x.answers.back()->card->bytes->body.find(R"("version":"new")") != std::string::npos);
}

TEST_CASE("Lists that make no card make none when their session was lost meanwhile and is well again")
{
    rig x{1, 0, core::mcp_server{}};
    x.list({});
    x.maker.refuses_lists = true;
    x.list({});
    REQUIRE(x.told == std::vector<bool>{true, false});
    CHECK(x.obtained()->failure->code == errc::card_too_large);
    x.plane.set_session_trouble("agent-0", core::upstream_error(errc::session_crashed));
    CHECK(x.obtained()->failure->code == errc::session_crashed);
    x.plane.set_session_trouble("agent-0", std::nullopt);
    const auto got = x.obtained();
    CHECK(got->card == nullptr);
    REQUIRE(got->failure.has_value());
    CHECK(got->failure->code == errc::card_too_large);
}

TEST_CASE("A card that was fetched within cards.max_size is too large when the limit is lowered before it is made")
{
    rig x;
    x.maker.slow = true;
    x.agents.name = std::string(1000, 'n');
    CHECK_FALSE(x.obtained().has_value());
    REQUIRE(x.maker.held() == 1);
    auto lower = x.settings.cards;
    lower.max_size = 1000;
    x.editor.set_settings(lower, false);
    x.maker.release();
    x.run();
    REQUIRE(x.answers.front().has_value());
    REQUIRE(x.answers.front()->failure.has_value());
    CHECK(x.answers.front()->failure->code == errc::card_too_large);
    CHECK(x.answers.front()->failure->detail.starts_with("http://agent-0/card: "));
    x.editor.set_settings(x.settings.cards, false);
    x.pass(10min);
    CHECK(x.name() == x.agents.name);
}

TEST_CASE("A card is served whole or called too large, whenever cards.max_size is lowered while it is made")
{
    bool served = false;
    bool refused = false;
    for (int steps = 0; !served && steps < 1000; ++steps) {
        CAPTURE(steps);
        rig x;
        x.agents.name = std::string(100'000, 'n');  // made in several pieces
        x.maker.slow = true;
        CHECK_FALSE(x.obtained().has_value());
        auto lower = x.settings.cards;
        lower.max_size = 1000;
        x.maker.release();
        x.loop.io().restart();
        for (int i = 0; i < steps; ++i) {
            x.loop.io().poll_one();
        }
        x.editor.set_settings(lower, false);
        x.run();
        const auto& answer = x.answers.front();
        REQUIRE(answer.has_value());
        served = answer->card != nullptr;
        if (served) {
            CHECK(answer->card->bytes->body.find(x.agents.name) != std::string::npos);
        } else {
            REQUIRE(answer->failure.has_value());
            CHECK(answer->failure->code == errc::card_too_large);
            refused = true;
        }
    }
    CHECK(served);
    CHECK(refused);
}

TEST_SUITE_END();
