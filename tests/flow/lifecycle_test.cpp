#include "net/sse/sse.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/lifecycle_fixture.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/lifecycle");

namespace {

using namespace std::chrono_literals;
using flow::becomes_true;
using flow::begins_to_drain;
using flow::call_text;
using flow::held_back;
using flow::log_of;
using flow::quick_settings;
using flow::refuses;
using flow::running_gateway;
using flow::settings_for;
using test_support::answer_json;
using test_support::http_client;
using test_support::request_text;
using test_support::scripted_agent;

}  // namespace

TEST_CASE("a gateway nobody uses ends at once")
{
    running_gateway gateway{quick_settings()};
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(refuses(gateway.port()));
    CHECK(refuses(gateway.admin_port()));
}

TEST_CASE("idle connections do not hold up the end")
{
    scripted_agent agent{[](const auto&) { return answer_json("{}"); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    settings.workers = 2;
    running_gateway gateway{std::move(settings)};
    std::vector<http_client> callers;
    for (const auto port : {gateway.port(), gateway.admin_port()}) {
        for (int i = 0; i < 6; ++i) {
            callers.emplace_back(port);
            if (i < 3) {
                callers.back().send(request_text("GET", "/nothing"));
                CHECK(callers.back().read_response().status == 404);
            }
        }
    }
    CHECK(gateway.wait_for_metric("cardea_connections_open", 6));
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
    for (auto& each : callers) {
        CHECK(each.closed_by_peer());
    }
}

TEST_CASE("A kept connection has drain_idle for one more request, and ends with its answer")
{
    scripted_agent agent{[](const auto&) { return answer_json("{}"); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    settings.timeouts.drain_idle = 1h;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text());
    CHECK(caller.read_response().header("Connection").empty());
    REQUIRE(begins_to_drain(gateway));
    CHECK(becomes_true([&] { return refuses(gateway.port()); }));
    CHECK_FALSE(caller.closed_by_peer(200ms));  // longer than a sweep
    caller.send(call_text());
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    CHECK(answer.header("Connection") == "close");
    CHECK(caller.closed_by_peer());
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("A kept connection without a request ends after drain_idle, and no later than drain")
{
    for (const bool long_idle : {false, true}) {
        scripted_agent agent{[](const auto&) { return answer_json("{}"); }};
        auto settings = settings_for(agent);
        settings.timeouts.drain = long_idle ? 300ms : 1h;
        settings.timeouts.drain_streams = settings.timeouts.drain;
        settings.timeouts.drain_idle = long_idle ? 1h : 300ms;
        running_gateway gateway{std::move(settings)};
        http_client caller{gateway.port()};
        caller.send(call_text());
        CHECK(caller.read_response().status == 200);
        const auto begun = std::chrono::steady_clock::now();
        gateway.stop();
        CHECK(caller.closed_by_peer());
        CHECK(std::chrono::steady_clock::now() - begun >= 290ms);
        CHECK(gateway.wait_until_stopped(5s));
    }
}

TEST_CASE("who has just connected when the end begins is answered, and nobody waits long for who says nothing")
{
    scripted_agent agent{[](const auto&) { return answer_json("{}"); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    http_client silent{gateway.port()};
    REQUIRE(begins_to_drain(gateway));
    CHECK(becomes_true([&] { return refuses(gateway.port()); }));
    caller.send(call_text());
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    CHECK(answer.header("Connection") == "close");
    CHECK(caller.closed_by_peer());
    CHECK(silent.closed_by_peer());
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("a call in flight is finished, its connection is closed, and no new one is taken meanwhile")
{
    test_support::gate held;
    scripted_agent agent{held_back(held)};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text());
    REQUIRE(held.wait_until_reached());
    REQUIRE(begins_to_drain(gateway));
    CHECK(becomes_true([&] { return refuses(gateway.port()); }));
    CHECK(gateway.metric("cardea_ready") == 0);  // asks every worker: all of them know by now
    held.release();
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    CHECK(answer.body == R"({"late":true})");
    CHECK(answer.header("Connection") == "close");
    CHECK(caller.closed_by_peer());
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(log_of(gateway).find(R"("event":"stopped","cut":0)") != std::string::npos);
}

TEST_CASE("Of pipelined requests that have arrived each is answered, and the last answer ends the connection")
{
    test_support::gate held;
    scripted_agent agent{held_back(held)};
    running_gateway gateway{settings_for(agent)};
    http_client caller{gateway.port()};
    caller.send(call_text() + call_text());
    REQUIRE(held.wait_until_reached());
    REQUIRE(begins_to_drain(gateway));
    CHECK(gateway.metric("cardea_ready") == 0);  // asks every worker: all of them know by now
    held.release(2);
    CHECK(caller.read_response().header("Connection").empty());
    CHECK(caller.read_response().header("Connection") == "close");
    CHECK(caller.closed_by_peer());
    CHECK(agent.request_count() == 2);
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("a card that is being fetched when the end begins is still served")
{
    test_support::gate held;
    scripted_agent agent{[&](const auto&) {
        return test_support::then({test_support::pass_gate{held.shared()}}, answer_json(R"({"name":"Late"})"));
    }};
    running_gateway gateway{settings_for(agent)};
    http_client caller{gateway.port()};
    caller.send(request_text("GET", flow::card_target("a")));
    REQUIRE(held.wait_until_reached());
    REQUIRE(begins_to_drain(gateway));
    held.release();
    const auto answer = caller.read_response();
    CHECK(answer.status == 200);
    CHECK(answer.header("Connection") == "close");
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("a stream in flight has drain_streams, then ends visibly, and its agent is left")
{
    scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 300ms;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text("message/stream"));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event("1");
    caller.read_until("data: 1\n\n");
    const auto begun = std::chrono::steady_clock::now();
    REQUIRE(begins_to_drain(gateway));
    agent.send_event("2");
    caller.read_until("data: 2\n\n");
    const auto rest = caller.read_until_closed();
    CHECK(rest.find("0\r\n\r\n") == std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begun >= 290ms);
    CHECK(agent.wait_until_peer_closed());
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(log_of(gateway).find(R"("stream":"drain")") != std::string::npos);
}

TEST_CASE("A stream says between two events that the gateway is about to end, and goes on")
{
    scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text("message/stream"));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_stream("data: half");
    caller.read_until("data: half");
    REQUIRE(begins_to_drain(gateway));
    CHECK_FALSE(caller.closed_by_peer(200ms));  // nothing comes in the middle of an event
    agent.send_stream(" an event\n\n");
    CHECK(caller.read_until(net::sse_draining).find(" an event\n\n") != std::string::npos);
    agent.send_event("last");
    caller.read_until("data: last\n\n");
    agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n").find("draining") == std::string::npos);  // once
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("a stream that begins after drain_streams is ended at once")
{
    test_support::gate held;
    scripted_agent agent{[shared = held.shared()](const test_support::recorded_request& request) {
        return request.body.find("tasks/resubscribe") == std::string::npos
                   ? test_support::event_stream()
                   : test_support::then({test_support::pass_gate{shared}}, test_support::event_stream());
    }};
    auto settings = settings_for(agent);
    settings.timeouts.upstream_head = 1h;
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 50ms;
    running_gateway gateway{std::move(settings)};
    http_client first{gateway.port()};
    first.send(call_text("message/stream"));
    REQUIRE(agent.wait_for_streams(1));
    http_client late{gateway.port()};
    late.send(call_text("tasks/resubscribe"));
    REQUIRE(held.wait_until_reached());
    REQUIRE(begins_to_drain(gateway));
    first.read_until_closed();  // from then on streams are ended
    held.release();
    CHECK(late.read_response().status == 503);
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("a stream that its agent ends within drain_streams is whole")
{
    scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
    auto settings = settings_for(agent);
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text("message/stream"));
    REQUIRE(agent.wait_for_streams(1));
    REQUIRE(begins_to_drain(gateway));
    agent.send_event("last");
    agent.end_streams();
    auto body = caller.read_response().body;
    if (const auto at = body.find(net::sse_draining); at != std::string::npos) {  // unless the stream was over before
        body.erase(at, net::sse_draining.size());
    }
    CHECK(body == "data: last\n\n");
    CHECK(gateway.wait_until_stopped(5s));
}

TEST_CASE("a call that is silent until drain is over is cut, and so is its agent")
{
    scripted_agent agent{[](const auto&) { return test_support::silence(); }};
    auto settings = settings_for(agent);
    settings.timeouts.upstream_head = 1h;
    settings.timeouts.drain = 200ms;
    settings.timeouts.drain_streams = 50ms;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(call_text());
    REQUIRE(agent.wait_for_requests(1));
    gateway.stop();
    CHECK(caller.read_until_closed().empty());
    CHECK(agent.wait_until_peer_closed());
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(log_of(gateway).find(R"("event":"stopped","cut":1)") != std::string::npos);
}

TEST_CASE("a card fetch that is silent until drain is over is cut")
{
    scripted_agent agent{[](const auto&) { return test_support::silence(); }};
    auto settings = settings_for(agent);
    settings.cards.timeout = 1h;
    settings.timeouts.drain = 200ms;
    settings.timeouts.drain_streams = 50ms;
    running_gateway gateway{std::move(settings)};
    http_client caller{gateway.port()};
    caller.send(request_text("GET", flow::card_target("a")));
    REQUIRE(agent.wait_for_requests(1));
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(agent.wait_until_peer_closed());
    CHECK(caller.read_until_closed().find("200 OK") == std::string::npos);
}

TEST_CASE("a refresh asked for on the admin listener does not hold up the end")
{
    scripted_agent agent{[](const auto&) { return test_support::silence(); }};
    auto settings = settings_for(agent);
    settings.cards.timeout = 1h;
    running_gateway gateway{std::move(settings)};
    http_client admin{gateway.admin_port()};
    admin.send(request_text(
        "POST",
        "/rpc",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"agents/refreshCard","params":{"id":"a"}})"
    ));
    REQUIRE(agent.wait_for_requests(1));
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(agent.wait_until_peer_closed());
}

TEST_CASE("a second stop ends everything at once")
{
    scripted_agent agent{[](const test_support::recorded_request& request) {
        return request.body.find("message/stream") == std::string::npos ? test_support::silence()
                                                                        : test_support::event_stream();
    }};
    auto settings = settings_for(agent);
    settings.timeouts.upstream_head = 1h;
    settings.timeouts.drain = 1h;
    settings.timeouts.drain_streams = 1h;
    settings.workers = 2;
    running_gateway gateway{std::move(settings)};
    std::vector<http_client> callers;
    for (const auto* method : {"message/send", "message/stream", "message/send"}) {
        callers.emplace_back(gateway.port());
        callers.back().send(call_text(method));
    }
    REQUIRE(agent.wait_for_requests(3));
    REQUIRE(begins_to_drain(gateway));
    CHECK_FALSE(gateway.wait_until_stopped(100ms));
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
    for (auto& each : callers) {
        CHECK(each.read_until_closed().find("0\r\n\r\n") == std::string::npos);
    }
}

TEST_CASE("half a request does not outlive drain")
{
    scripted_agent agent;
    auto settings = settings_for(agent);
    settings.timeouts.drain = 200ms;
    settings.timeouts.drain_streams = 50ms;
    running_gateway gateway{std::move(settings)};
    http_client half_head{gateway.port()};
    half_head.send("GET /agents/a HTTP/1.1\r\nHost: ");
    http_client half_body{gateway.port()};
    half_body.send("POST /agents/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
    CHECK(gateway.wait_for_metric("cardea_connections_open", 2));
    gateway.stop();
    CHECK(gateway.wait_until_stopped(5s));
    CHECK(half_head.read_until_closed().find("200 OK") == std::string::npos);
    CHECK(half_body.read_until_closed().find("200 OK") == std::string::npos);
}

TEST_CASE("a gateway that is told to end as it begins ends")
{
    for (int i = 0; i < 20; ++i) {
        running_gateway gateway{quick_settings()};
        gateway.stop();
        gateway.stop();
        CHECK(gateway.wait_until_stopped(5s));
    }
}

TEST_SUITE_END();
