// A session of MCP over HTTP/2 on both sides: an MCP client on one connection to the gateway, an MCP server with `http: 2`.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/http2_caller.hpp"
#include "tests/flow/mcp_fixture.hpp"
#include "tests/support/http2_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/mcp_http2");

namespace {

namespace h2 = test_support::h2;
namespace raw = test_support::http2;
using flow::http2_caller;
using flow::mcp_calls::json;
using flow::mcp_calls::server_id;
using test_support::recorded_request;

constexpr std::string_view tools =
    R"({"tools":[{"name":"echo","description":"says it again","inputSchema":{"type":"object"}}]})";
const std::string progress =
    "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
    "\"params\":{\"progressToken\":1,\"progress\":1}}\n\n";
const std::string answered =
    "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"1\"}]}}\n\n";
const std::string changed = "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";

h2::script answer_json(std::string body, test_support::field_list fields = {})
{
    fields.emplace_back("content-type", "application/json");
    return h2::answer(200, std::move(body), std::move(fields));
}

// Answers the gateway's own session and those of callers alike. A stream of GET stays open.
h2::script serve(const recorded_request& request)
{
    const h2::head events{{{":status", "200"}, {"content-type", "text/event-stream"}}};
    if (request.method == "GET") {
        return request.header("traceparent").empty() ? h2::answer(405, "") : h2::script{events};
    }
    if (request.method == "DELETE") {
        return h2::answer(200, "");
    }
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    if (!body.contains("id")) {
        return h2::answer(202, "");
    }
    const auto result = [&](std::string_view text) {
        return R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":)" + std::string{text} + '}';
    };
    if (body["method"] == "initialize") {
        return answer_json(
            result(
                R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"
            ),
            {{"mcp-session-id", std::string{server_id}}}
        );
    }
    if (request.header("mcp-session-id") != server_id) {
        return h2::answer(404, "{}");
    }
    if (body["method"] == "tools/list") {
        return answer_json(result(tools));
    }
    if (body["method"] == "tools/call") {
        return {events, h2::data{progress}, h2::data{answered, true}};
    }
    return body["method"] == "ping" ? answer_json(result("{}")) : h2::answer(405, "");
}

config::settings settings_for(const test_support::http2_agent& server)
{
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", server.url("/mcp")));
    flow::mcp_calls::make_mcp(settings);
    settings.agents[0].http = core::http_version::v2;
    return settings;
}

// A client that names its session once it has one.
struct mcp_client {
    explicit mcp_client(std::uint16_t port)
        : caller{port}
    {
    }

    std::uint32_t begin(std::string_view method, std::string_view body)
    {
        raw::field_lines more{
            {"accept", "application/json, text/event-stream"},
            {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        };
        if (!body.empty()) {
            more.emplace_back("content-type", "application/json");
        }
        if (!session.empty()) {
            more.emplace_back("mcp-session-id", session);
        }
        const auto stream = std::exchange(next, next + 2);
        const auto fields = flow::http2_fields(std::string{method}, "/agents/a/mcp", more);
        if (body.empty()) {
            caller.send(raw::headers_frame(stream, fields));
        } else {
            caller.send(
                raw::headers_frame(stream, fields, raw::end_headers) +
                raw::frame(raw::data, raw::end_stream, stream, body)
            );
        }
        return stream;
    }
    std::uint32_t ask(std::string_view method, std::string_view body = {})
    {
        const auto stream = begin(method, body);
        CHECK(caller.answered(stream));
        return stream;
    }

    http2_caller caller;
    std::string session;
    std::uint32_t next = 1;
};

}  // namespace

TEST_CASE("A session of MCP passes over HTTP/2 on both sides: calls, events, the stream of GET, its end")
{
    test_support::http2_agent server{serve};
    const flow::running_gateway gateway{settings_for(server)};
    mcp_client client{gateway.port()};

    const auto begun = client.ask("POST", flow::mcp_calls::initialize_body);
    CHECK(client.caller.field(begun, ":status") == "200");
    CHECK(json::parse(client.caller.body(begun))["result"]["serverInfo"]["name"] == "s");
    client.session = client.caller.field(begun, "mcp-session-id");
    CHECK_FALSE(client.session.empty());
    CHECK(client.session != server_id);

    const auto told = client.ask("POST", R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    CHECK(client.caller.field(told, ":status") == "202");

    const auto listed = client.ask("POST", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
    CHECK(json::parse(client.caller.body(listed))["result"] == json::parse(tools));

    const auto called = client.ask("POST", flow::mcp_calls::call_of("2"));
    CHECK(client.caller.field(called, "content-type") == "text/event-stream");
    CHECK(client.caller.body(called) == progress + answered);

    const auto stream = client.begin("GET", {});
    REQUIRE(server.wait_for_requests(5));
    const auto requests = server.requests();
    const auto at = std::ranges::find_if(requests, [](const auto& each) { return each.method == "GET"; });
    REQUIRE(at != requests.end());
    server.say(static_cast<std::size_t>(at - requests.begin()), {h2::data{changed}});
    CHECK(client.caller.until([&](const auto&) { return client.caller.body(stream) == changed; }));

    const auto ended = client.ask("DELETE");
    CHECK(client.caller.field(ended, ":status") == "200");
    CHECK(server.requests().back().header("mcp-session-id") == server_id);

    // The client leaves the stream; the server hears of it, and the connection stays.
    client.caller.send(raw::reset_frame(stream));
    CHECK(server.wait_for_resets(1));
    CHECK(gateway.wait_for_metric(R"(cardea_http2_streams{side="caller"})", 0));
    CHECK(gateway.wait_for_metric(R"(cardea_http2_streams{side="agent"})", 0));
    CHECK(gateway.metric(R"(cardea_http2_connections{side="caller"})") == 1);
    CHECK(server.accepted_connections() == 1);
}

TEST_CASE("The gateway's own session with an MCP server goes over HTTP/2, and makes its card")
{
    test_support::http2_agent server{serve};
    const flow::running_gateway gateway{settings_for(server)};
    // The card is made on another thread.
    REQUIRE(flow::becomes_true([&] { return flow::get_card(gateway, "a").status == 200; }));
    CHECK(json::parse(flow::get_card(gateway, "a").body)["skills"][0]["id"] == "echo");
    for (const auto& each : server.requests()) {
        CHECK(each.header("traceparent").empty());
        CHECK(each.header(":scheme") == "http");
    }
}

TEST_SUITE_END();
