// Calls of MCP servers that say nothing for long: what their callers get, and what the server hears of it.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_silence");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

// As as_server(), but what is posted as a request in a session gets this; what the gateway itself says is taken.
handler answering(std::function<script(const recorded_request&)> calls)
{
    return [calls = std::move(calls)](const recorded_request& request) {
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        const bool is_call = body.is_object() && body.contains("id") && body.value("method", "") != "initialize";
        if (is_call) {
            return calls(request);
        }
        return request.header("Traceparent").empty() ? answer(202, "") : as_server(request);
    };
}

bool cancels(const recorded_request& request)
{
    return request.body.find("notifications/cancelled") != std::string::npos;
}

http_client sent_call(const relayed& x, const std::string& session, std::string_view body)
{
    http_client caller{x.port()};
    const auto fields = with(usual_fields(), {{"Mcp-Session-Id", session}, {"Content-Type", "application/json"}});
    caller.send(request_text("POST", "/agents/a/mcp", fields, body));
    return caller;
}

script held_back(const gate& at, message then)
{
    return {pass_gate{at.shared()}, std::move(then)};
}

std::string method_call(std::string_view method)
{
    return R"({"jsonrpc":"2.0","id":"q-1","method":")" + std::string{method} + R"(","params":{"name":"x"}})";
}

}  // namespace

TEST_CASE("A call on which the server is silent for timeouts.call fails, and the server is told that nobody waits")
{
    relayed x{answering([](const auto&) { return silence(); }), [](config::settings& settings) {
                  make_mcp(settings);
                  settings.agents[0].mcp->call_timeout = 150ms;
              }};
    const auto id = begin(x);
    const auto got =
        post(x, method_call("tools/list"), {{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2025-06-18"}});
    check_error(got, 200, -32603, "upstream_timeout");
    CHECK(json::parse(got.body)["id"] == "q-1");
    REQUIRE(x.agent.wait_for([](const auto& all) { return cancels(all.back()); }));
    const auto told = x.agent.requests().back();
    CHECK(told.method == "POST");
    CHECK(told.target == "/rpc");
    CHECK(told.header("Mcp-Session-Id") == server_id);
    CHECK(told.header("MCP-Protocol-Version") == "2025-06-18");
    CHECK(json::parse(told.body)["params"]["requestId"] == "q-1");
    CHECK_FALSE(json::parse(told.body).contains("id"));
}

TEST_CASE("A call that is not over in longest_call fails, however much the server says")
{
    relayed x{answering([](const auto&) { return event_stream(); }), [](config::settings& settings) {
                  make_mcp(settings);
                  settings.agents[0].mcp->longest_call = 200ms;
              }};
    const auto id = begin(x);
    auto caller = sent_call(x, id, method_call("tools/call"));
    CHECK(caller.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    x.agent.send_event(R"({"jsonrpc":"2.0","method":"notifications/progress"})");
    CHECK_FALSE(caller.read_until("progress\"}\n\n").empty());
    const auto rest = caller.read_until("\n\n");
    CHECK(rest.find(R"("upstream_timeout")") != std::string::npos);
    CHECK(rest.find(R"("id":"q-1")") != std::string::npos);
    CHECK(x.agent.wait_for([](const auto& all) { return cancels(all.back()); }));
    CHECK(x.gateway.wait_for_metric(
        R"(cardea_mcp_requests_total{agent="a",method="tools/call",era="legacy",outcome="upstream_error"})",
        1
    ));
}

TEST_CASE("A modern server is told by the end of the connection only")
{
    relayed x{answering([](const auto&) { return silence(); }), [](config::settings& settings) {
                  make_mcp(settings);
                  settings.agents[0].mcp->call_timeout = 150ms;
              }};
    const std::string body =
        R"({"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read","arguments":{},"_meta":)"
        R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    const field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "read"}};
    check_error(post(x, body, fields), 504, -32603, "upstream_timeout");
    CHECK(x.agent.wait_until_peer_closed());
    static_cast<void>(post(x, initialize_body));
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("A caller of a silent tool gets comments, and then the JSON answer as an event")
{
    const gate open;
    relayed x{
        answering([open](const auto&) {
            return held_back(
                open,
                message{
                    200,
                    {{"Content-Type", "application/json"}},
                    "{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\n\"result\":{}}"
                }
            );
        }),
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->silent_call = 50ms;
            settings.timeouts.stream_keep_alive = 50ms;
        }
    };
    const auto id = begin(x);
    auto caller = sent_call(x, id, call_of("1"));
    const auto head = caller.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    CHECK(head.header("Cache-Control").find("no-transform") != std::string::npos);
    CHECK(head.header("X-Accel-Buffering") == "no");
    for (int i = 0; i < 2; ++i) {
        const auto comment = caller.read_until("\n\n");
        CHECK(comment.find(':') != std::string::npos);
        CHECK(comment.find("data") == std::string::npos);
    }
    gate{open}.release();
    const auto rest = caller.read_until("0\r\n\r\n");
    CHECK(rest.find("data: {\"jsonrpc\":\"2.0\",  \"id\":1, \"result\":{}}") != std::string::npos);
    CHECK(rest.ends_with("\n\n\r\n0\r\n\r\n"));
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_ended_total{agent="a",reason="complete"})", 1));
}

TEST_CASE("Events that come after the silence leave as they come, and a failure is an event of its own")
{
    struct row {
        script answer;
        std::string_view expected;
    };
    const row rows[] = {
        {answer(200, "id: e1\ndata: {\"x\":1}\n\n", {{"Content-Type", "text/event-stream"}}),
         "id: e1\ndata: {\"x\":1}\n\n"},
        {answer(500, "no", {{"Content-Type", "text/plain"}}), "\"upstream_status\""},
        {answer(400, R"({"error":{"code":-32602}})", {{"Content-Type", "application/json"}}),
         "data: {\"error\":{\"code\":-32602}}"},
        {reset(), "\"upstream_reset\""},
    };
    for (const auto& [then, expected] : rows) {
        CAPTURE(expected);
        const gate open;
        relayed x{
            answering([&open, &then](const auto&) {
                script steps{pass_gate{open.shared()}};
                steps.insert(steps.end(), then.begin(), then.end());
                return steps;
            }),
            [](config::settings& settings) {
                make_mcp(settings);
                settings.agents[0].mcp->silent_call = 50ms;
            }
        };
        const auto id = begin(x);
        auto caller = sent_call(x, id, call_of("1"));
        CHECK(caller.read_head().status == 200);
        gate{open}.release();
        CHECK(caller.read_until("0\r\n\r\n").find(expected) != std::string::npos);
    }
}

TEST_CASE("Silence on what is no call of a tool leaves the answer as it is")
{
    relayed x{answering([](const auto&) { return silence(); }), [](config::settings& settings) {
                  make_mcp(settings);
                  settings.agents[0].mcp->silent_call = 50ms;
                  settings.agents[0].mcp->call_timeout = 300ms;
              }};
    const auto id = begin(x);
    const auto got = post(x, method_call("prompts/get"), {{"Mcp-Session-Id", id}});
    CHECK(got.header("Content-Type") == "application/json");
    check_error(got, 200, -32603, "upstream_timeout");
}

TEST_SUITE_END();
