// How many calls an agent gets at a time, who waits and for how long, and what an overloaded gateway refuses.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
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
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/call limits");

namespace {

constexpr std::string_view answered = R"({"jsonrpc":"2.0","id":1,"result":{}})";

// Answers each call when the gate lets it.
test_support::script held(const test_support::gate& gate)
{
    return test_support::then(
        {test_support::pass_gate{gate.shared()}},
        test_support::answer_json(std::string{answered})
    );
}

relayed::adjustment
with_limits(core::call_limits limits, std::uint64_t workers = 1, core::duration timeout = test_support::patience)
{
    return [=](config::settings& settings) {
        settings.defaults.calls = limits;
        settings.workers = workers;
        settings.timeouts.upstream_head = timeout;
    };
}

std::unique_ptr<http_client> begin_call(std::uint16_t port, const test_support::field_list& further = {})
{
    auto caller = std::make_unique<http_client>(port);
    caller->send(call_text(call_body(), further));
    return caller;
}

bool waits(const relayed& x, double calls)
{
    return x.gateway.wait_for_metric(R"(cardea_queue_length{agent="a"})", calls);
}

void check_shed(const test_support::http_response& got)
{
    CHECK(got.status == 503);
    CHECK(got.header("Cardea-Error") == "overloaded");
    const auto after = got.header("Retry-After");
    CHECK((after == "1" || after == "2" || after == "3"));
}

}  // namespace

TEST_CASE("An agent never sees one call more than limits.in_flight, whatever the number of workers")
{
    constexpr std::size_t limit = 3;
    test_support::gate gate;
    relayed x{held(gate), with_limits({.in_flight = limit, .queue = 64, .wait = test_support::patience}, 4)};
    std::vector<std::unique_ptr<http_client>> callers;
    for (int i = 0; i < 12; ++i) {
        callers.push_back(begin_call(x.port()));
    }
    CHECK(x.agent.wait_for_requests(limit));
    CHECK(waits(x, 12 - limit));
    for (std::size_t done = 0; done < 12; ++done) {
        CHECK(x.agent.request_count() <= done + limit);
        gate.release();
        CHECK(x.agent.wait_for_requests(std::min<std::size_t>(done + 1 + limit, 12)));
    }
    for (auto& each : callers) {
        CHECK(each->read_response().status == 200);
    }
    CHECK(waits(x, 0));
}

TEST_CASE("A call that finds no place in time, and one that finds no queue, get 503 with a short Retry-After")
{
    test_support::gate gate;
    relayed x{held(gate), with_limits({.in_flight = 1, .queue = 2, .wait = 1s})};
    const auto first = begin_call(x.port());
    CHECK(x.agent.wait_for_requests(1));
    const auto second = begin_call(x.port());
    CHECK(waits(x, 1));
    SUBCASE("one caller has half of the queue")
    {
        const auto begun = std::chrono::steady_clock::now();
        check_shed(call(x.port(), call_body()));
        CHECK(std::chrono::steady_clock::now() - begun < 500ms);
        CHECK(x.gateway.wait_for_metric(R"(cardea_shed_total{reason="queue_share"})", 1));
    }
    check_shed(second->read_response());
    CHECK(x.gateway.wait_for_metric(R"(cardea_shed_total{reason="queue_timeout"})", 1));
    gate.release();
    CHECK(first->read_response().status == 200);
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("A caller that leaves the queue frees its place, and the agent never sees its call")
{
    test_support::gate gate;
    relayed x{held(gate), with_limits({.in_flight = 1, .queue = 2, .wait = test_support::patience})};
    const auto first = begin_call(x.port());
    CHECK(x.agent.wait_for_requests(1));
    {
        const auto left = begin_call(x.port());
        CHECK(waits(x, 1));
        left->reset();
    }
    CHECK(waits(x, 0));
    const auto third = begin_call(x.port());
    CHECK(waits(x, 1));
    gate.release(2);
    CHECK(first->read_response().status == 200);
    CHECK(third->read_response().status == 200);
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("A stream gives its place among the calls back when it begins, and keeps one among the streams")
{
    relayed x{test_support::event_stream(), with_limits({.in_flight = 1, .queue = 0, .streams = 2})};
    const auto stream = [&] {
        auto caller = std::make_unique<http_client>(x.port());
        caller->send(call_text(call_body("1", "message/stream")));
        return caller;
    };
    auto first = stream();
    CHECK(first->read_head().status == 200);
    const auto second = stream();
    CHECK(second->read_head().status == 200);
    check_shed(stream()->read_response());
    CHECK(x.gateway.wait_for_metric(R"(cardea_shed_total{reason="streams"})", 1));
    CHECK(x.agent.request_count() == 2);
    first->reset();
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 1));
    CHECK(stream()->read_head().status == 200);
}

TEST_CASE("A caller's deadline ends the call, and the agent gets what is left of it in the same field")
{
    test_support::gate gate;
    relayed x{held(gate), with_limits({})};
    const auto got = begin_call(x.port(), {{"x-request-timeout-ms", "400"}})->read_response();
    flow::check_jsonrpc_error(got, flow::late, "1");
    const auto told = x.agent.request(0);
    REQUIRE(told.count("X-Request-Timeout-Ms") == 1);
    const auto left = std::stoi(told.header("X-Request-Timeout-Ms"));
    CHECK(left >= 1);
    CHECK(left <= 400);
    const auto line = x.gateway.log().wait_for([](std::string_view each) {
        return each.find(R"("detail":"deadline")") != each.npos;
    });
    CHECK(line.has_value());
}

TEST_CASE("A deadline counts while the first call waits for the agent's card, and the agent does not get the call")
{
    scripted_agent agent{[](const test_support::recorded_request& asked) {
        return asked.method == "GET" ? test_support::silence() : test_support::answer_json(std::string{answered});
    }};
    auto settings = flow::quick_settings();
    settings.cards.timeout = test_support::patience;
    settings.agents.push_back(flow::a2a_agent("a", agent.url("/rpc")));
    settings.agents[0].trust = core::card_trust::same_origin;
    const flow::running_gateway gateway{std::move(settings)};
    const auto begun = std::chrono::steady_clock::now();
    const auto got = begin_call(gateway.port(), {{"x-request-timeout-ms", "200"}})->read_response();
    flow::check_jsonrpc_error(got, flow::late, "1");
    CHECK(std::chrono::steady_clock::now() - begun < test_support::patience / 2);
    const auto line =
        gateway.log().wait_for([](std::string_view each) { return each.find(R"("detail":"deadline")") != each.npos; });
    CHECK(line.has_value());
    for (const auto& each : agent.requests()) {
        CHECK(each.method == "GET");
    }
}

TEST_CASE("A deadline counts in the queue, and a value that is none is dropped")
{
    test_support::gate gate;
    relayed x{held(gate), with_limits({.in_flight = 1, .queue = 4, .wait = test_support::patience})};
    const auto first = begin_call(x.port(), {{"X-Envoy-Expected-Rq-Timeout-Ms", "soon"}});
    CHECK(x.agent.wait_for_requests(1));
    CHECK(x.agent.request(0).count("X-Envoy-Expected-Rq-Timeout-Ms") == 0);
    const auto got = begin_call(x.port(), {{"X-Envoy-Expected-Rq-Timeout-Ms", "300"}})->read_response();
    CHECK(got.status == 504);
    CHECK(waits(x, 0));
    gate.release();
    CHECK(first->read_response().status == 200);
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("A deadline longer than the agent's timeout changes nothing but what the agent is told")
{
    relayed x{test_support::answer_json(std::string{answered}), with_limits({}, 1, 5s)};
    CHECK(begin_call(x.port(), {{"X-Request-Timeout-Ms", "86400000"}})->read_response().status == 200);
    CHECK(std::stoi(x.agent.request(0).header("X-Request-Timeout-Ms")) <= 5000);
}

namespace {

// A gateway in front of an agent, as overloaded as the test says.
struct overloaded_gateway {
    overloaded_gateway()
        : agent{[](const test_support::recorded_request&) { return test_support::answer_json(std::string{answered}); }},
          gateway{settings(), {}, [lag = lag] { return std::chrono::milliseconds{*lag}; }}
    {
    }

    config::settings settings() const
    {
        auto out = flow::quick_settings();
        out.agents.push_back(flow::a2a_agent("a", agent.url()));
        return out;
    }

    void set(int milliseconds, double level)
    {
        *lag = milliseconds;
        CHECK(gateway.wait_for_metric("cardea_overload_level", level));
    }

    std::shared_ptr<std::atomic<int>> lag = std::make_shared<std::atomic<int>>(0);
    test_support::scripted_agent agent;
    flow::running_gateway gateway;
};

}  // namespace

TEST_CASE("An overloaded gateway refuses more with each level, serves operators always, and recovers")
{
    overloaded_gateway x;
    const auto port = x.gateway.port();
    CHECK(call(port, call_body()).header("Connection") != "close");
    x.set(50, 1);
    const auto ended = call(port, call_body());
    CHECK(ended.status == 200);
    CHECK(ended.header("Connection") == (test_support::over_http2() ? "" : "close"));
    x.set(200, 2);
    CHECK(call(port, call_body()).status == 200);
    check_shed(call(port, call_body("1", "message/stream")));
    check_shed(call(port, call_body() + std::string(64 * 1024, ' ')));
    x.set(500, 3);
    check_shed(call(port, call_body()));
    CHECK(test_support::request(port, "GET", "/agents").status < 500);
    CHECK(test_support::request(x.gateway.admin_port(), "GET", "/healthz").status == 200);
    x.set(0, 0);
    CHECK(call(port, call_body()).status == 200);
    const auto logged = x.gateway.log().wait_for([](std::string_view line) {
        return line.find(R"("event":"overload_changed")") != line.npos && line.find(R"("level":0)") == line.npos;
    });
    CHECK(logged.has_value());
}

TEST_SUITE_END();
