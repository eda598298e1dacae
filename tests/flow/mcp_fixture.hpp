// What the tests of messages to MCP servers share: a gateway in front of one scripted server, and the messages of a client.
#pragma once

#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace flow::mcp_calls {

using namespace test_support;
using nlohmann::json;

inline constexpr std::string_view server_id = "0f1e2d3c-upstream";

inline const std::string initialize_body =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
    R"("clientInfo":{"name":"test","version":"1"}}})";

inline const std::string initialized =
    R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"s","version":"1"}}})";

// A server of the legacy era that issues one session id. What the gateway's own session asks it gets a 404, so that only what
// callers send is answered.
inline script as_server(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    if (request.header("Traceparent").empty()) {
        return answer(404, "{}");
    }
    if (method == "initialize") {
        return answer_json(initialized, {{"Mcp-Session-Id", std::string{server_id}}});
    }
    if (request.header("Mcp-Session-Id") != server_id) {
        return answer(404, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}})");
    }
    if (request.method == "DELETE") {
        return answer(200, "");
    }
    if (!body.contains("id")) {
        return answer(202, "");
    }
    return answer_json(R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{"content":[]}})");
}

// The same, and it answers the gateway's own session: it has the tools `echo`, `search` and `find`.
inline script listing_server(const recorded_request& request)
{
    if (!request.header("Traceparent").empty()) {
        return as_server(request);
    }
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    const auto result = [&](std::string_view text) {
        return answer_json(R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":)" + std::string{text} + '}');
    };
    if (method == "initialize") {
        return result(
            R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"
        );
    }
    if (method == "tools/list") {
        return result(R"({"tools":[{"name":"echo","inputSchema":{}},{"name":"search","inputSchema":{}},)"
                      R"({"name":"find","inputSchema":{}}]})");
    }
    if (method == "ping") {
        return result("{}");
    }
    return request.method == "POST" && !body.contains("id") ? answer(202, "") : answer(405, "");
}

inline void make_mcp(config::settings& settings)
{
    auto& record = settings.agents[0];
    record.speaks = core::protocol::mcp;
    record.trust = core::card_trust::never;
    auto& server = record.mcp.emplace();
    server.start = core::mcp_start::lazy;
}

inline relayed mcp_gateway(const relayed::adjustment& adjust = {})
{
    return relayed{as_server, [adjust](config::settings& settings) {
                       make_mcp(settings);
                       if (adjust) {
                           adjust(settings);
                       }
                   }};
}

inline field_list usual_fields()
{
    return {
        {"Accept", "application/json, text/event-stream"},
        {"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    };
}

inline field_list with(field_list fields, const field_list& further)
{
    fields.insert(fields.end(), further.begin(), further.end());
    return fields;
}

inline http_response
send_to(std::uint16_t port, std::string_view method, const field_list& fields, std::string_view body = {})
{
    http_client caller{port};
    auto all = fields;
    if (!body.empty()) {
        all.emplace_back("Content-Type", "application/json");
    }
    caller.send(request_text(method, "/agents/a/mcp", all, body));
    return caller.read_response();
}

inline http_response
send(const relayed& x, std::string_view method, const field_list& fields, std::string_view body = {})
{
    return send_to(x.port(), method, fields, body);
}

inline http_response post(const relayed& x, std::string_view body, const field_list& further = {})
{
    return send(x, "POST", with(usual_fields(), further), body);
}

inline std::string begin(const relayed& x)
{
    const auto got = post(x, initialize_body);
    REQUIRE(got.status == 200);
    return got.header("Mcp-Session-Id");
}

// What callers sent, and not the gateway's own session.
inline std::vector<recorded_request> passed_on(const relayed& x)
{
    auto all = x.agent.requests();
    std::erase_if(all, [](const auto& each) { return each.header("Traceparent").empty(); });
    return all;
}

inline std::string call_of(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} +
           R"(,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.50}}})";
}

inline void check_error(const http_response& got, unsigned status, int code, std::string_view name)
{
    CHECK(got.status == status);
    const auto body = json::parse(got.body);
    CHECK(body["jsonrpc"] == "2.0");
    CHECK(body["error"]["code"] == code);
    CHECK(got.header("Cardea-Error") == name);
}

}  // namespace flow::mcp_calls
