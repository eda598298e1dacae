// How long connections to an agent live between calls.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;
using test_support::recorded_request;

TEST_SUITE_BEGIN("flow/agent_connections");

namespace {

constexpr auto idle_connections = "cardea_upstream_connections_idle";

void call_often(const relayed& x, std::uint64_t times)
{
    http_client caller{x.port()};
    for (std::uint64_t i = 0; i < times; ++i) {
        caller.send(call_text(call_body()));
        CHECK(caller.read_response().status == 200);
    }
}

std::size_t calls_of(const test_support::scripted_agent& agent)
{
    return static_cast<std::size_t>(std::ranges::count(agent.requests(), "POST", &recorded_request::method));
}

}  // namespace

TEST_CASE("A connection to an agent carries as many calls as the limit says, and the next call makes another one")
{
    for (const std::uint64_t calls : {2U, 3U, 4U}) {
        CAPTURE(calls);
        relayed x{
            [](const auto&) { return test_support::answer_json("{}"); },
            [](config::settings& s) { s.limits.upstream_requests = 3; }
        };
        call_often(x, calls);
        CHECK(x.agent.accepted_connections() == (calls > 3 ? 2 : 1));
        CHECK(x.gateway.metric(idle_connections) == (calls == 3 ? 0 : 1));
    }
}

TEST_CASE("An idle connection closes a second before the agent would close it")
{
    relayed x{[](const auto&) { return test_support::answer_json("{}", {{"Keep-Alive", "timeout=2"}}); }};
    call_often(x, 2);
    const auto begun = std::chrono::steady_clock::now();
    CHECK(x.agent.accepted_connections() == 1);
    REQUIRE(x.agent.wait_until_peer_closed());
    CHECK(std::chrono::steady_clock::now() - begun >= 900ms);
    call_often(x, 1);
    CHECK(x.agent.accepted_connections() == 2);
}

TEST_CASE("A connection that the agent keeps for a second at most is not used again")
{
    for (const std::string seconds : {"0", "1"}) {
        CAPTURE(seconds);
        relayed x{[=](const auto&) { return test_support::answer_json("{}", {{"Keep-Alive", "timeout=" + seconds}}); }};
        call_often(x, 3);
        CHECK(x.agent.accepted_connections() == 3);
        CHECK(x.gateway.metric(idle_connections) == 0);
    }
}

TEST_CASE("After an agent has ended an idle connection no call goes over one that has been idle for nearly as long")
{
    test_support::gate end;
    relayed x{[&](const recorded_request& request) {
        auto answer = test_support::answer_json(request.body);
        return request.connection == 1
                   ? test_support::then(answer, {test_support::pass_gate{end.shared()}, test_support::close_now{}})
                   : answer;
    }};
    const auto idle = [](std::chrono::steady_clock::duration time) {
        const auto until = std::chrono::steady_clock::now() + time;
        std::this_thread::sleep_until(until);
    };
    call_often(x, 1);
    REQUIRE(end.wait_until_reached());
    idle(1600ms);
    end.release();
    CHECK(x.gateway.wait_for_metric(idle_connections, 0));
    call_often(x, 2);
    CHECK(x.agent.accepted_connections() == 2);
    idle(900ms);
    call_often(x, 1);
    CHECK(x.agent.accepted_connections() == 3);
    CHECK(x.agent.open_connections() == 2);  // the one that was not used shows for how long the agent keeps it
}

TEST_CASE("A connection closes when it is old, but not during a call")
{
    test_support::gate answer;
    relayed x{
        [&](const recorded_request& request) {
            if (request.number_on_connection == 1 && request.connection == 1) {
                return test_support::then(
                    {test_support::pass_gate{answer.shared()}},
                    test_support::answer_json(request.body)
                );
            }
            return test_support::answer_json(request.body);
        },
        [](config::settings& s) { s.timeouts.upstream_max_age = 200ms; }
    };
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    REQUIRE(answer.wait_until_reached());
    CHECK_FALSE(x.agent.wait_until_peer_closed(500ms));
    answer.release();
    CHECK(caller.read_response().status == 200);
    REQUIRE(x.agent.wait_until_peer_closed());
    caller.send(call_text(call_body()));
    CHECK(caller.read_response().status == 200);
    REQUIRE(x.agent.wait_until_peer_closed(test_support::patience, 2));
    CHECK(x.agent.accepted_connections() == 2);
}

TEST_CASE("An agent whose breaker opens loses its idle connections")
{
    test_support::gate both;
    relayed x{
        [&](const recorded_request& request) {
            if (request.body == call_body("1")) {
                return test_support::then(
                    {test_support::pass_gate{both.shared()}},
                    test_support::answer_json(request.body)
                );
            }
            test_support::message busy;
            busy.status = 502;
            return test_support::script{busy};
        },
        [](config::settings& s) { s.defaults.breaker = {}; }
    };
    http_client one{x.port()};
    http_client other{x.port()};
    one.send(call_text(call_body()));
    other.send(call_text(call_body()));
    REQUIRE(both.wait_until_reached(2));
    both.release(2);
    CHECK(one.read_response().status == 200);
    CHECK(other.read_response().status == 200);
    CHECK(x.gateway.wait_for_metric(idle_connections, 2));
    for (int i = 0; i < 5; ++i) {
        CHECK(call(x.port(), call_body("2")).status == 502);
    }
    CHECK(x.gateway.wait_for_metric(idle_connections, 0));
    CHECK(x.agent.wait_for_open_connections(0));
}

TEST_CASE("An endpoint that leaves its agent loses its idle connections at once, and those that stay keep theirs")
{
    // Connections of those who ask for cards are not those of calls.
    const auto echo = [](const recorded_request& request) {
        return request.method == "GET" ? test_support::answer(404, "", {{"Connection", "close"}})
                                       : test_support::answer_json(request.body);
    };
    test_support::scripted_agent one{echo};
    test_support::scripted_agent two{echo};
    test_support::scripted_agent three{echo};
    auto settings = flow::quick_settings();
    settings.workers = 2;
    const flow::running_gateway gateway{std::move(settings)};
    const auto reached_at = [&](const std::vector<std::string>& urls) {
        const core::json agent{{"upstreams", urls}, {"balance", "spread"}, {"health", {{"check", "none"}}}};
        flow::manage(gateway, "agents/upsert", {{"id", "a"}, {"agent", agent}});
    };
    const auto call_all = [&](const std::vector<test_support::scripted_agent*>& agents) {
        http_client caller{gateway.port()};
        for (auto* agent : agents) {
            const auto before = calls_of(*agent);
            while (calls_of(*agent) == before) {
                caller.send(call_text(call_body()));
                CHECK(caller.read_response().status == 200);
            }
        }
    };
    reached_at({one.url("/rpc"), two.url("/rpc")});
    call_all({&one, &two});
    REQUIRE(one.open_connections() > 0);
    REQUIRE(two.open_connections() > 0);
    const auto kept = two.accepted_connections();
    const auto open = two.open_connections();

    reached_at({three.url("/rpc"), two.url("/other")});
    CHECK(one.wait_for_open_connections(0));
    CHECK(two.open_connections() == open);
    call_all({&three, &two});
    CHECK(two.accepted_connections() <= kept + 1);  // the caller may be on the other worker now

    flow::manage(gateway, "agents/delete", {{"id", "a"}});
    CHECK(two.wait_for_open_connections(0));
    CHECK(three.wait_for_open_connections(0));
    CHECK(gateway.wait_for_metric(idle_connections, 0));
}

TEST_SUITE_END();
