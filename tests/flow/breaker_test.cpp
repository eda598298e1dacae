// An agent that fails is left alone, and called again when it may work again.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/fault_proxy.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/breaker");

namespace {

constexpr flow::error_answer
    paused{503, -31503, "circuit_open", "The agent has failed too often; calls to it are paused.", true};

// As the gateway has it by default, and with this cooldown.
relayed::adjustment with_breaker(core::duration cooldown = 30s, std::uint64_t workers = 1)
{
    return [cooldown, workers](config::settings& settings) {
        settings.defaults.breaker = {};
        settings.defaults.breaker.cooldown = cooldown;
        settings.workers = workers;
    };
}

void open(const relayed& x)
{
    for (int i = 0; i < 5; ++i) {
        CHECK(call(x.port(), call_body()).status == 502);
    }
    flow::check_jsonrpc_error(call(x.port(), call_body()), paused, "1");
}

std::string state(std::string_view name)
{
    return R"(cardea_endpoint_state{agent="a",endpoint="1",state=")" + std::string{name} + "\"}";
}

bool logged(const flow::running_gateway& gateway, std::string_view event)
{
    const auto wanted = R"("event":")" + std::string{event} + '"';
    return gateway.log().wait_for([&](std::string_view line) { return line.find(wanted) != line.npos; }).has_value();
}

}  // namespace

TEST_CASE("An agent that always answers 502 sees five calls and no sixth")
{
    relayed x{test_support::answer(502, "bad"), with_breaker(30s, 4)};
    for (int i = 0; i < 5; ++i) {
        const auto got = call(x.port(), call_body());
        CHECK(got.status == 502);
        CHECK(got.body == "bad");
    }
    auto fastest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 20; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const auto got = call(x.port(), call_body("7"));
        fastest = std::min(fastest, std::chrono::steady_clock::now() - start);
        flow::check_jsonrpc_error(got, paused, "7");
        const auto seconds = std::stoul(got.header("Retry-After"));
        CHECK(seconds >= 1);
        CHECK(seconds <= 30);
    }
    CHECK(fastest <= 5ms);
    CHECK(x.agent.request_count() == 5);
    CHECK(x.agent.accepted_connections() <= 5);
    CHECK(logged(x.gateway, "breaker_opened"));
    CHECK(x.gateway.metric(state("open")) == 1);
    CHECK(x.gateway.metric(state("closed")) == 0);
    CHECK(x.gateway.metric(R"(cardea_breaker_openings_total{agent="a",endpoint="1"})") == 1);
}

TEST_CASE("Of 64 callers on 4 workers at most 100 calls reach an agent that always answers 502")
{
    const relayed x{test_support::answer(502, "bad"), with_breaker(30s, 4)};
    std::atomic<int> told{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 64; ++i) {
        callers.emplace_back([&] {
            http_client caller{x.port()};
            for (unsigned status = 502; status == 502;) {
                caller.send(call_text(call_body()));
                status = caller.read_response().status;
                told += status == 503 ? 1 : 0;
            }
        });
    }
    for (auto& caller : callers) {
        caller.join();
    }
    CHECK(told.load() == 64);
    CHECK(x.agent.request_count() >= 5);
    CHECK(x.agent.request_count() <= 100);
}

TEST_CASE(
    "An agent that works for longer than its timeout is slow: its breaker stays closed, and what only reads gets its "
    "answer"
)
{
    relayed x{test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})"), [](config::settings& settings) {
                  with_breaker()(settings);
                  settings.timeouts.upstream_head = 50ms;
              }};
    constexpr int calls = 7;  // more than open a breaker
    for (int i = 0; i < calls; ++i) {
        x.agent.next(test_support::silence());
        flow::check_jsonrpc_error(call(x.port(), call_body()), flow::late, "1");
    }
    CHECK(call(x.port(), R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}})").status == 200);
    CHECK(x.gateway.metric(state("closed")) == 1);
    CHECK(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="slow"})") == calls);
    CHECK_FALSE(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_timeout"})").has_value());
}

TEST_CASE("Answers of 500 and 429, JSON-RPC errors and callers who leave do not open a breaker")
{
    relayed x{test_support::answer_json("{}"), with_breaker()};
    for (const unsigned status : {500U, 429U, 400U}) {
        for (int i = 0; i < 25; ++i) {
            x.agent.next(test_support::answer(status, "no"));
            CHECK(call(x.port(), call_body()).status == status);
        }
    }
    const auto begun = x.agent.request_count();
    for (std::size_t i = 1; i <= 10; ++i) {
        x.agent.next(test_support::silence());
        http_client caller{x.port()};
        caller.send(call_text(call_body()));
        REQUIRE(x.agent.wait_for_requests(begun + i));
        caller.reset();
        REQUIRE(x.agent.wait_until_peer_closed(test_support::patience, i));
    }
    CHECK(call(x.port(), call_body()).status == 200);
}

TEST_CASE("After the cooldown one call at a time finds out, and the first success closes the breaker")
{
    relayed x{test_support::answer(502, "bad"), with_breaker(200ms)};
    open(x);
    const test_support::gate held;
    x.agent.otherwise([](const auto&) { return test_support::answer_json("{}"); });
    x.agent.next(test_support::raw({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}, held));
    unsigned status = 503;
    std::thread waits{[&] {
        while (status == 503) {
            status = call(x.port(), call_body()).status;
        }
    }};
    auto gate = held;
    REQUIRE(gate.wait_until_reached());
    CHECK(x.gateway.metric(state("half_open")) == 1);
    for (int i = 0; i < 3; ++i) {
        const auto got = call(x.port(), call_body());
        flow::check_jsonrpc_error(got, paused, "1");
        CHECK(got.header("Retry-After") == "1");
    }
    CHECK(x.agent.request_count() == 6);
    gate.release();
    waits.join();
    CHECK(status == 200);
    CHECK(call(x.port(), call_body()).status == 200);
    CHECK(logged(x.gateway, "breaker_closed"));
    CHECK(x.gateway.metric(state("closed")) == 1);
}

TEST_CASE("An agent that fails the trial is left alone again, and for longer")
{
    const relayed x{test_support::answer(503, "busy"), with_breaker(200ms)};
    const auto until_reached = [&](std::size_t calls) {
        const auto start = std::chrono::steady_clock::now();
        while (x.agent.request_count() < calls) {
            CHECK(call(x.port(), call_body()).status == 503);
        }
        return std::chrono::steady_clock::now() - start;
    };
    until_reached(5);
    CHECK(until_reached(6) >= 100ms);  // 160 ms at least, from the fifth failure on
    CHECK(until_reached(7) >= 250ms);  // 320 ms
    CHECK(x.gateway.metric(R"(cardea_breaker_openings_total{agent="a",endpoint="1"})") == 3);
}

TEST_CASE("An agent that cannot be reached is called again within a second after it listens")
{
    test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    test_support::fault_proxy proxy{agent.port(), {.down = true}};
    auto settings = flow::quick_settings();
    with_breaker(10min)(settings);
    settings.agents.push_back(flow::a2a_agent("a", proxy.url("/rpc")));
    const flow::running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 5; ++i) {
        flow::check_jsonrpc_error(call(gateway.port(), call_body()), flow::refused, "1");
    }
    const auto got = call(gateway.port(), call_body());
    flow::check_jsonrpc_error(got, paused, "1");
    CHECK(got.header("Retry-After") == "1");

    proxy.heal();
    const auto healed = std::chrono::steady_clock::now();
    while (call(gateway.port(), call_body()).status == 503 && std::chrono::steady_clock::now() - healed < 10s) {
        std::this_thread::yield();
    }
    CHECK(std::chrono::steady_clock::now() - healed <= 1500ms);  // a probe each second, and the machine's own time
    CHECK(call(gateway.port(), call_body()).status == 200);
    CHECK(proxy.accepted_connections() == 2);  // the probe, and one for the calls
    CHECK(logged(gateway, "breaker_closed"));
}

TEST_CASE(
    "An agent that takes connections and fails TLS sees one probe in each interval, however many calls are refused"
)
{
    test_support::scripted_agent plain{test_support::agent_options{.accepts = test_support::on_accept::close}};
    auto settings = flow::quick_settings();
    with_breaker()(settings);
    settings.defaults.breaker.probe = 300ms;
    settings.agents.push_back(flow::a2a_agent("a", "https://127.0.0.1:" + std::to_string(plain.port()) + "/rpc"));
    const flow::running_gateway gateway{std::move(settings)};
    for (int i = 0; i < 5; ++i) {
        flow::check_jsonrpc_error(call(gateway.port(), call_body()), flow::tls_failed, "1");
    }
    CHECK(plain.accepted_connections() == 5);
    const auto begun = std::chrono::steady_clock::now();
    while (plain.accepted_connections() < 9) {
        flow::check_jsonrpc_error(call(gateway.port(), call_body()), paused, "1");
    }
    CHECK(std::chrono::steady_clock::now() - begun >= 4 * 300ms - 20ms);
    CHECK(std::chrono::steady_clock::now() - begun < 10s);
}

TEST_CASE("Streams that are open go on while their agent's breaker is open, and other agents get their calls")
{
    test_support::scripted_agent good{[](const auto&) { return test_support::answer_json("{}"); }};
    const auto serve = [](const test_support::recorded_request& request) {
        const bool stream = request.body.find("message/stream") != std::string::npos;
        return stream ? test_support::event_stream() : test_support::answer(504, "late");
    };
    relayed x{test_support::handler{serve}, [&](config::settings& settings) {
                  with_breaker()(settings);
                  settings.agents.push_back(flow::a2a_agent("b", good.url("/rpc")));
              }};
    http_client watcher{x.port()};
    watcher.send(call_text(call_body("1", "message/stream")));
    REQUIRE(watcher.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    for (int i = 0; i < 5; ++i) {
        CHECK(call(x.port(), call_body()).status == 504);
    }
    flow::check_jsonrpc_error(call(x.port(), call_body()), paused, "1");
    x.agent.send_event("still here");
    CHECK(watcher.read_until("still here").ends_with("still here"));
    const auto other =
        test_support::request(x.port(), "POST", "/agents/b", {{"Content-Type", "application/json"}}, call_body());
    CHECK(other.status == 200);
}

TEST_CASE("While a breaker is open its agent's card is served if there is one, else its callers get the same 503")
{
    const auto with_card = [](std::string card) {
        return [card = std::move(card)](const test_support::recorded_request& request) {
            const bool served = request.method == "GET" && !card.empty();
            return served ? test_support::answer_json(card) : test_support::answer(502, "bad");
        };
    };
    const auto asked = [](const relayed& x) {
        return std::ranges::count(x.agent.requests(), "GET", &test_support::recorded_request::method);
    };
    relayed with{test_support::handler{with_card(flow::card_text("N", "http://127.0.0.1:1/"))}, with_breaker()};
    CHECK(flow::get_card(with.gateway, "a").status == 200);
    open(with);
    CHECK(flow::get_card(with.gateway, "a").status == 200);

    relayed without{test_support::handler{with_card("")}, with_breaker()};
    CHECK(flow::get_card(without.gateway, "a").status == 502);
    open(without);
    const auto before = asked(without);
    const auto got = flow::get_card(without.gateway, "a");
    flow::check_refusal(got, 503, "circuit_open", "a");
    CHECK(std::stoul(got.header("Retry-After")) >= 1);
    CHECK(asked(without) == before);
    flow::manage(without.gateway, "agents/reset", {{"id", "a"}});
    CHECK(flow::get_card(without.gateway, "a").status == 502);
}

TEST_CASE("An operator closes a breaker, and nobody else does")
{
    relayed x{test_support::answer(502, "bad"), with_breaker()};
    CHECK(flow::manage(x.gateway, "agents/reset", {{"id", "a"}}) == core::json{{"id", "a"}, {"reset", false}});
    open(x);
    const auto refused =
        flow::parsed(flow::post_json(x.port(), "/rpc", flow::managing("agents/reset", R"({"id":"a"})")).body);
    CHECK(refused["error"]["data"]["code"] == "admin_only");
    flow::check_jsonrpc_error(call(x.port(), call_body()), paused, "1");
    CHECK(flow::manage(x.gateway, "agents/reset", {{"id", "a"}}) == core::json{{"id", "a"}, {"reset", true}});
    x.agent.otherwise([](const auto&) { return test_support::answer_json("{}"); });
    CHECK(call(x.port(), call_body()).status == 200);
    CHECK(flow::error_of(x.gateway, "agents/reset", R"({"id":"b"})")["data"]["code"] == "agent_not_found");
}

TEST_CASE("A breaker of an agent's own takes the place of the default")
{
    relayed x{test_support::answer(502, "bad"), [](config::settings& settings) {
                  settings.defaults.breaker = {};
                  settings.agents[0].breaker_failures = 2;
              }};
    CHECK(call(x.port(), call_body()).status == 502);
    CHECK(call(x.port(), call_body()).status == 502);
    flow::check_jsonrpc_error(call(x.port(), call_body()), paused, "1");
    CHECK(x.agent.request_count() == 2);
}

TEST_SUITE_END();
