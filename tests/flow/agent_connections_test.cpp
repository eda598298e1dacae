// How long connections to an agent live between calls.
#include "tests/flow/relay_fixture.hpp"

#include <chrono>
#include <cstdint>
#include <string>
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

TEST_SUITE_END();
