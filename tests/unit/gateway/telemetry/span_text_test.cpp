#include "gateway/telemetry/span_text.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/span_text");

namespace {

using namespace std::chrono_literals;
using core::json;
using gateway::model::span;
using gateway::model::span_kind;

span a_request()
{
    span out;
    out.at = {{0x0af7651916cd43dd, 0x8448eb211c80319c}, 0x00ad6b7169203331, true};
    out.parent = 0xb7ad6b7169203331;
    out.start = core::wall_time{1'700'000'000'123'456'789ns};
    out.end = core::wall_time{1'700'000'000'223'456'789ns};
    out.http_method = "POST";
    out.route = "/agents/{id}";
    out.scheme = "https";
    out.rpc_method = "SendMessage";
    out.status = 200;
    out.path = "/agents/dice";
    out.host = "gw.test";
    out.port = 8443;
    out.agent = "dice";
    return out;
}

json parsed(const std::vector<span>& spans)
{
    auto read = core::parse_json(gateway::telemetry::otlp_text(spans, "1.2.3"));
    REQUIRE(read.has_value());
    return *read;
}

json span_of(const span& what)
{
    return parsed({what})["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
}

// Null: there is none of this name.
json attribute(const json& of, std::string_view key)
{
    for (const auto& each : of["attributes"]) {
        if (each["key"] == key) {
            return each["value"];
        }
    }
    return nullptr;
}

}  // namespace

TEST_CASE("a batch is one request of OTLP, which says who the gateway is")
{
    const auto request = parsed({a_request(), a_request()});
    REQUIRE(request["resourceSpans"].size() == 1);
    const auto& of = request["resourceSpans"][0];
    CHECK(attribute(of["resource"], "service.name") == json{{"stringValue", "cardea"}});
    CHECK(attribute(of["resource"], "service.version") == json{{"stringValue", "1.2.3"}});
    REQUIRE(of["scopeSpans"].size() == 1);
    CHECK(of["scopeSpans"][0]["scope"] == json{{"name", "cardea"}, {"version", "1.2.3"}});
    CHECK(of["scopeSpans"][0]["spans"].size() == 2);
}

TEST_CASE("ids are hex, 64-bit numbers are texts, and others are numbers")
{
    const auto out = span_of(a_request());
    CHECK(out["traceId"] == "0af7651916cd43dd8448eb211c80319c");
    CHECK(out["spanId"] == "00ad6b7169203331");
    CHECK(out["parentSpanId"] == "b7ad6b7169203331");
    CHECK(out["startTimeUnixNano"] == "1700000000123456789");
    CHECK(out["endTimeUnixNano"] == "1700000000223456789");
    CHECK(out["kind"] == 2);
    CHECK(out["flags"] == 0x301);
    CHECK(attribute(out, "http.response.status_code") == json{{"intValue", "200"}});
    CHECK(attribute(out, "server.port") == json{{"intValue", "8443"}});
}

TEST_CASE("a request of a caller has the names of OpenTelemetry's conventions")
{
    const auto out = span_of(a_request());
    CHECK(out["name"] == "POST /agents/{id}");
    CHECK(attribute(out, "http.request.method") == json{{"stringValue", "POST"}});
    CHECK(attribute(out, "http.route") == json{{"stringValue", "/agents/{id}"}});
    CHECK(attribute(out, "url.path") == json{{"stringValue", "/agents/dice"}});
    CHECK(attribute(out, "url.scheme") == json{{"stringValue", "https"}});
    CHECK(attribute(out, "server.address") == json{{"stringValue", "gw.test"}});
    CHECK(attribute(out, "rpc.method") == json{{"stringValue", "SendMessage"}});
    CHECK(attribute(out, "cardea.agent") == json{{"stringValue", "dice"}});
    CHECK(attribute(out, "error.type").is_null());
    CHECK_FALSE(out.contains("status"));
}

TEST_CASE("what is not known is left out")
{
    span bare;
    bare.at = {{1, 2}, 3, true};
    const auto out = span_of(bare);
    CHECK(out["name"] == "HTTP");
    CHECK_FALSE(out.contains("parentSpanId"));
    CHECK(out["flags"] == 0x101);
    CHECK(out["attributes"] == json::array({{{"key", "http.request.method"}, {"value", {{"stringValue", "_OTHER"}}}}}));
}

TEST_CASE("an attempt at an agent is a client's span, and says how many were before")
{
    auto attempt = a_request();
    attempt.kind = span_kind::client;
    attempt.route = {};
    CHECK(attribute(span_of(attempt), "http.request.resend_count").is_null());
    attempt.resends = 1;
    const auto out = span_of(attempt);
    CHECK(out["name"] == "POST");
    CHECK(out["kind"] == 3);
    CHECK(out["flags"] == 0x101);
    CHECK(attribute(out, "http.request.resend_count") == json{{"intValue", "1"}});
}

TEST_CASE("what failed has the gateway's code, or its status")
{
    auto failed = a_request();
    failed.failed = true;
    failed.status = 503;
    auto out = span_of(failed);
    CHECK(out["status"] == json{{"code", 2}});
    CHECK(attribute(out, "error.type") == json{{"stringValue", "503"}});
    failed.error = "circuit_open";
    out = span_of(failed);
    CHECK(attribute(out, "error.type") == json{{"stringValue", "circuit_open"}});
}

TEST_CASE("the fault of a caller is told, and is no error of the gateway")
{
    auto refused = a_request();
    refused.status = 404;
    refused.error = "agent_not_found";
    const auto out = span_of(refused);
    CHECK(attribute(out, "error.type") == json{{"stringValue", "agent_not_found"}});
    CHECK_FALSE(out.contains("status"));
}

TEST_CASE("a path of any bytes leaves the text JSON")
{
    auto hostile = a_request();
    hostile.path = "/a\"\\\n\x01\xff\xfe\xed\xa0\x80";
    hostile.host = "\"},{";
    const auto out = span_of(hostile);
    CHECK(attribute(out, "server.address") == json{{"stringValue", "\"},{"}});
    CHECK(attribute(out, "url.path")["stringValue"].get<std::string>().starts_with("/a\"\\\n"));
}

TEST_CASE("a message of MCP has the names of OpenTelemetry's conventions for MCP")
{
    auto what = a_request();
    what.is_mcp = true;
    what.rpc_method = "tools/call";
    what.operation = "execute_tool";
    what.protocol = "2025-11-25";
    what.tool = "search";
    what.request_id = "7";
    what.error = "tool_error";
    what.failed = true;
    const auto out = span_of(what);
    CHECK(out["name"] == "tools/call search");
    CHECK(attribute(out, "mcp.method.name") == json{{"stringValue", "tools/call"}});
    CHECK(attribute(out, "mcp.protocol.version") == json{{"stringValue", "2025-11-25"}});
    CHECK(attribute(out, "jsonrpc.request.id") == json{{"stringValue", "7"}});
    CHECK(attribute(out, "gen_ai.operation.name") == json{{"stringValue", "execute_tool"}});
    CHECK(attribute(out, "gen_ai.tool.name") == json{{"stringValue", "search"}});
    CHECK(attribute(out, "error.type") == json{{"stringValue", "tool_error"}});
    CHECK(attribute(out, "gen_ai.agent.id") == nullptr);
    CHECK(attribute(out, "cardea.agent") == json{{"stringValue", "dice"}});
    CHECK(attribute(out, "http.request.method") == json{{"stringValue", "POST"}});

    what.rpc_method = "tools/list";
    what.tool.clear();
    what.operation = {};
    const auto list = span_of(what);
    CHECK(list["name"] == "tools/list");
    CHECK(attribute(list, "gen_ai.operation.name") == nullptr);
    CHECK(attribute(list, "gen_ai.tool.name") == nullptr);
}

TEST_CASE("a call of A2A has the names of OpenTelemetry's conventions for agents")
{
    auto what = a_request();
    what.is_a2a = true;
    what.operation = "invoke_agent";
    what.agent_name = "Dice Agent";
    what.conversation = "c-1";
    what.request_id = "r";
    const auto out = span_of(what);
    CHECK(out["name"] == "POST /agents/{id}");
    CHECK(attribute(out, "gen_ai.operation.name") == json{{"stringValue", "invoke_agent"}});
    CHECK(attribute(out, "gen_ai.agent.id") == json{{"stringValue", "dice"}});
    CHECK(attribute(out, "gen_ai.agent.name") == json{{"stringValue", "Dice Agent"}});
    CHECK(attribute(out, "gen_ai.conversation.id") == json{{"stringValue", "c-1"}});
    CHECK(attribute(out, "jsonrpc.request.id") == json{{"stringValue", "r"}});
    CHECK(attribute(out, "mcp.method.name") == nullptr);
}

TEST_SUITE_END();
