// Containment of agents that callers reach in other ways: in translation, as tools, by their notifications, before a card or a token is there.
#include "tests/flow/agent_tools_fixture.hpp"
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/contained_ways");

namespace {

using namespace std::chrono_literals;
using enum core::a2a_dialect;
using flow::asked;
using flow::bridged;
using flow::check_contained;
using flow::contain;
using flow::contained_plain;
using flow::contained_rpc;
using flow::release;
using test_support::http_client;
using test_support::request_text;

constexpr std::string_view code = "agent_contained";

std::string text_of(core::a2a_dialect caller, asked what)
{
    const auto wire = flow::request_in(caller, what);
    const std::string target = "/agents/a" + std::string{flow::is_rest(caller) ? "/rest" : ""} + wire.path;
    return request_text(wire.verb, target, {{"Content-Type", "application/json"}}, wire.body);
}

}  // namespace

TEST_CASE("a stream ends with an error of its caller's dialect, whatever the agent's")
{
    for (const auto agent : flow::dialects) {
        for (const auto caller : flow::dialects) {
            CAPTURE(core::name(caller));
            CAPTURE(core::name(agent));
            bridged with{agent, {}, [](const auto&) { return test_support::event_stream(); }};
            http_client client{with.x.port()};
            client.send(text_of(caller, asked::stream));
            REQUIRE(with.x.agent.wait_for_streams(1));
            with.x.agent.send_event(flow::enveloped(agent, flow::id_of(with.last()), flow::update_in(agent, "working"))
            );
            CHECK(client.read_head().status == 200);
            client.read_until("\n\n");
            CHECK(contain(with.x.gateway, "a", {{"notice", "no"}})["cut"]["streams"] == 1);
            const auto rest = client.read_until("\r\n0\r\n\r\n");
            const auto from = rest.find("data: ") + 6;
            const auto said = rest.substr(from, rest.find("\n\n", from) - from);
            const auto error = flow::said_error(caller, said);
            CHECK(error == (caller == v1_rest ? "PERMISSION_DENIED agent_contained no" : "-31403 no"));
            CHECK((said.find(R"("id":"q-1")") != std::string::npos) == !flow::is_rest(caller));
        }
    }
}

TEST_CASE("calls in translation are refused in their caller's dialect, before a head and after")
{
    for (const auto caller : flow::dialects) {
        CAPTURE(core::name(caller));
        bridged with{v03_jsonrpc, {}, [](const auto&) { return test_support::silence(); }};
        http_client client{with.x.port()};
        client.send(text_of(caller, asked::send));
        REQUIRE(with.x.agent.wait_for_requests(1));
        contain(with.x.gateway, "a", {{"notice", "no"}});
        const auto got = client.read_response();
        CHECK(got.status == 403);
        CHECK(
            flow::said_error(caller, got.body) ==
            (caller == v1_rest ? "PERMISSION_DENIED agent_contained no" : "-31403 no")
        );
        const auto again = with.ask(caller, asked::get);
        CHECK(again.status == 403);
        CHECK(flow::said_error(caller, again.body) == flow::said_error(caller, got.body));
        CHECK(with.x.agent.request_count() == 1);
    }
}

TEST_CASE("an agent that is called as a tool is refused to MCP clients, in calls that are under way too")
{
    using namespace flow::agent_tools;
    tools_gateway with{/*streams=*/true, [](config::settings& settings) {
                           settings.agents[0].tool_wait = test_support::patience;
                       }};
    http_client client{with.x.port()};
    client.send(modern_text("tools/call", send_message("work")));
    REQUIRE(with.x.agent.wait_for_streams(1));
    contain(with.x.gateway, "a");
    const auto got = client.read_response();
    CAPTURE(got.body);
    CHECK(got.body.find(contained_rpc("7", code)) != std::string::npos);
    CHECK(with.x.agent.wait_until_peer_closed());
    const auto calls = with.x.agent.request_count();
    http_client second{with.x.port()};
    second.send(modern_text("tools/call", send_message("work")));
    check_contained(second.read_response(), contained_rpc("7", code));
    CHECK(with.x.agent.request_count() == calls);
}

TEST_CASE("whoever waits for the card of a contained agent gets the 403")
{
    flow::relayed x{test_support::silence(), [](config::settings& settings) {
                        settings.agents[0].card = {};
                        settings.cards.background = 0;
                        settings.cards.timeout = test_support::patience;
                    }};
    http_client client{x.port()};
    client.send(request_text("GET", "/agents/a/.well-known/agent-card.json"));
    REQUIRE(x.agent.wait_for_connections(1));
    CHECK(contain(x.gateway, "a")["cut"]["calls"] == 1);
    check_contained(client.read_response(), contained_plain(code));
    CHECK(x.agent.wait_until_peer_closed());
}

TEST_CASE("a call that waits for a token gets the 403, and the token of a contained agent is not used")
{
    test_support::scripted_agent server{[](const auto&) { return test_support::silence(); }};
    flow::relayed x{test_support::answer_json("{}"), [&](config::settings& settings) {
                        core::oauth_client client;
                        client.token_url = server.url("/token");
                        client.client_id = "cardea";
                        client.client_secret = core::secret{"planted-secret"};
                        settings.agents[0].credentials = std::move(client);
                    }};
    http_client client{x.port()};
    client.send(flow::call_text(flow::call_body("5")));
    REQUIRE(server.wait_for_requests(1));
    REQUIRE(x.gateway.wait_for_metric("cardea_requests_in_flight", 1));
    CHECK(contain(x.gateway, "a")["cut"]["calls"] == 1);
    check_contained(client.read_response(), contained_rpc("5", code));
    CHECK(x.agent.request_count() == 0);
}

TEST_CASE("notifications of a contained agent get the 403, with their proof alone")
{
    const auto echo = [](const test_support::recorded_request& asked) {
        const auto call = core::json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
        return call.is_object() && call.contains("params")
                   ? test_support::answer_json(
                         core::json{{"jsonrpc", "2.0"}, {"id", call["id"]}, {"result", call["params"]}}.dump()
                     )
                   : test_support::answer(404, "");
    };
    test_support::scripted_agent receiver{[](const auto&) { return test_support::answer(204, ""); }};
    flow::relayed x{echo, [](config::settings& settings) {
                        settings.agents[0].push = core::push_mode::mediate;
                        settings.push_allow = {"127.0.0.0/8"};
                    }};
    const core::json ask{
        {"jsonrpc", "2.0"},
        {"id", 7},
        {"method", "CreateTaskPushNotificationConfig"},
        {"params", {{"taskId", "1"}, {"url", receiver.url("/")}}}
    };
    REQUIRE(flow::call(x.port(), ask.dump()).status == 200);
    const auto got = flow::parsed(x.agent.request(x.agent.request_count() - 1).body)["params"];
    const auto url = got["url"].get<std::string>();
    const auto target = url.substr(url.find("/agents/"));
    constexpr std::string_view task = R"({"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"}}})";
    const auto notify = [&](const std::string& proof) {
        return test_support::request(
            x.port(),
            "POST",
            target,
            {{"Content-Type", "application/json"}, {"X-A2A-Notification-Token", proof}},
            task
        );
    };
    const auto proof = got["token"].get<std::string>();
    CHECK(notify(proof).status == 202);
    REQUIRE(receiver.wait_for_requests(1));
    contain(x.gateway, "a");
    check_contained(notify(proof), contained_plain(code));
    CHECK(notify("wrong").status == 401);
    release(x.gateway, "a");
    CHECK(notify(proof).status == 202);
    CHECK(receiver.wait_for_requests(2));
}

TEST_SUITE_END();
