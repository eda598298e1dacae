#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/lifecycle_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("flow/drain_delay");

namespace {

using namespace std::chrono_literals;
using flow::becomes_true;
using flow::begins_to_drain;
using flow::call_text;
using flow::log_of;
using flow::refuses;
using flow::running_gateway;
using flow::settings_for;
using test_support::answer_json;
using test_support::http_client;
using test_support::scripted_agent;

}  // namespace

TEST_CASE("During drain_delay connections are accepted, answers end theirs, and /readyz is 503")
{
    scripted_agent agent{[](const auto&) { return answer_json("{}"); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    settings.timeouts.drain_delay = 1h;
    settings.workers = 2;
    running_gateway gateway{std::move(settings)};
    http_client kept{gateway.port()};
    kept.send(call_text());
    CHECK(kept.read_response().header("Connection").empty());
    http_client silent{gateway.port()};
    CHECK(gateway.wait_for_metric("cardea_connections_open", 2));
    CHECK(test_support::request(gateway.admin_port(), "GET", "/readyz").status == 200);
    REQUIRE(begins_to_drain(gateway));
    CHECK(test_support::request(gateway.admin_port(), "GET", "/readyz").status == 503);
    CHECK(gateway.metric("cardea_ready") == 0);  // asks every worker: all of them know by now
    http_client late{gateway.port()};
    for (auto* const caller : {&kept, &silent, &late}) {
        caller->send(call_text());
        const auto answer = caller->read_response();
        CHECK(answer.status == 200);
        CHECK(answer.header("Connection") == "close");
        CHECK(caller->closed_by_peer());
    }
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("An answer whose head is out when drain_delay begins ends no connection; the next one does")
{
    scripted_agent agent{[](const test_support::recorded_request& request) {
        return request.body.find("message/stream") == std::string::npos ? answer_json("{}")
                                                                        : test_support::event_stream();
    }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    settings.timeouts.drain_delay = 1h;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text("message/stream"));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event("1");
    CHECK(caller.read_until("data: 1\n\n").find("Connection:") == std::string::npos);
    REQUIRE(begins_to_drain(gateway));
    CHECK(gateway.metric("cardea_ready") == 0);  // asks every worker: all of them know by now
    agent.end_streams();
    caller.read_until("0\r\n\r\n");
    caller.send(call_text());
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    CHECK(answer.header("Connection") == "close");
    CHECK(caller.closed_by_peer());
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("After drain_delay the drain goes on, and its time counts from the stop")
{
    scripted_agent agent{[](const auto&) { return test_support::silence(); }};
    auto settings = settings_for(agent);
    settings.timeouts.upstream_head = 1h;
    settings.timeouts.drain_delay = 200ms;
    settings.timeouts.drain = 400ms;
    settings.timeouts.drain_streams = 400ms;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text());
    REQUIRE(agent.wait_for_requests(1));
    const auto begun = std::chrono::steady_clock::now();
    gateway.stop();
    CHECK(becomes_true([&] { return refuses(gateway.port()); }));
    CHECK(std::chrono::steady_clock::now() - begun >= 190ms);
    CHECK(caller.read_until_closed().empty());
    CHECK(std::chrono::steady_clock::now() - begun >= 390ms);
    CHECK(gateway.wait_until_stopped(5s));
    // Where the machine is slow, connections that found out whether it refuses are still open, and cut too.
    const auto log = log_of(gateway);
    CHECK(log.find(R"("event":"stopped","cut":)") != std::string::npos);
    CHECK(log.find(R"("event":"stopped","cut":0)") == std::string::npos);
}

TEST_SUITE_END();
