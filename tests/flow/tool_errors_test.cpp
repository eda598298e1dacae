// Results of tools that are errors: what spans, metrics and access lines say of them, however the answer comes.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_bundle_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/tool_errors");

namespace {

using namespace flow::mcp_calls;
using flow::parsed;
using flow::relayed;

const std::string tool_error = R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}})";
const std::string rpc_error = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool"}})";
const std::string call_of_echo = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}})";

std::string outcome_metric(std::string_view tool, std::string_view outcome)
{
    return R"(cardea_mcp_tool_calls_total{agent="a",tool=")" + std::string{tool} + R"(",outcome=")" +
           std::string{outcome} + "\"}";
}

script answer_of_kind(std::string_view kind)
{
    const field_list events{{"Content-Type", "text/event-stream"}};
    const std::string note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n";
    if (kind == "events") {
        return answer(200, note + "event: message\ndata: " + tool_error + "\n\n", events);
    }
    return answer_json(kind == "rpc error" ? rpc_error : tool_error);
}

std::string attribute(const nlohmann::json& of, std::string_view key)
{
    for (const auto& each : of["attributes"]) {
        if (each["key"] == key) {
            return each["value"]["stringValue"].get<std::string>();
        }
    }
    return "(absent)";
}

// The spans of callers' requests that a collector has got by the end of the gateway.
std::vector<nlohmann::json> requests_in(const scripted_agent& collector)
{
    std::vector<nlohmann::json> all;
    for (const auto& each : collector.requests()) {
        const auto batch = nlohmann::json::parse(each.body);
        for (const auto& span : batch["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
            if (span["kind"] == 2) {
                all.push_back(span);
            }
        }
    }
    return all;
}

}  // namespace

TEST_CASE("a result with isError: true is counted, and neither the call nor the agent has failed")
{
    auto x = mcp_gateway();
    x.agent.otherwise(listing_server);
    flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
    const auto id = begin(x);
    const field_list session{{"Mcp-Session-Id", id}};
    unsigned errors = 0;
    for (const auto* kind : {"json", "events"}) {
        CAPTURE(kind);
        x.agent.otherwise([&](const auto&) { return answer_of_kind(kind); });
        const auto got = post(x, call_of_echo, session);
        CHECK(got.status == 200);
        CHECK(got.body.find(tool_error) != std::string::npos);
        CHECK(x.gateway.wait_for_metric(outcome_metric("echo", "tool_error"), ++errors));
    }
    x.agent.otherwise([&](const auto&) { return answer_of_kind("rpc error"); });
    CHECK(post(x, call_of_echo, session).status == 200);
    CHECK(x.gateway.wait_for_metric(outcome_metric("echo", "failed"), 1));
    x.agent.otherwise(listing_server);
    CHECK(post(x, call_of_echo, session).status == 200);
    CHECK(x.gateway.wait_for_metric(outcome_metric("echo", "ok"), 1));
    // The message was carried out, whatever the tool says.
    const auto* const messages =
        R"(cardea_mcp_requests_total{agent="a",method="tools/call",era="legacy",outcome="ok"})";
    CHECK(x.gateway.wait_for_metric(messages, 4));
    const auto health = flow::manage(x.gateway, "agents/health", {{"id", "a"}});
    CHECK(core::to_text(health).find("upstream_error") == std::string::npos);
    const auto line = x.gateway.log().wait_for([](std::string_view text) {
        return text.find(R"("tool":"echo")") != text.npos && text.find(R"("tool_failed":true)") != text.npos;
    });
    CHECK(line.has_value());
}

TEST_CASE("a span of a tool's call has its name, its version and id, and the error")
{
    const scripted_agent collector{[](const recorded_request&) { return answer_json("{}"); }};
    auto x = mcp_gateway([&](config::settings& settings) { settings.trace = {collector.url(), 1}; });
    x.agent.otherwise(listing_server);
    flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
    const auto id = begin(x);
    const field_list session{{"Mcp-Session-Id", id}};
    x.agent.otherwise([](const auto&) { return answer_of_kind("events"); });
    CHECK(post(x, call_of_echo, session).status == 200);
    CHECK(
        post(x, R"({"jsonrpc":"2.0","id":"made-up","method":"tools/call","params":{"name":"no such"}})", session)
            .status == 200
    );
    x.gateway.stop();
    CHECK(x.gateway.wait_until_stopped());
    const auto spans = requests_in(collector);
    REQUIRE(spans.size() == 3);
    CHECK(spans[0]["name"] == "initialize");
    CHECK(attribute(spans[0], "mcp.protocol.version") == "2025-06-18");
    CHECK(attribute(spans[0], "gen_ai.operation.name") == "(absent)");
    CHECK(attribute(spans[0], "error.type") == "(absent)");
    CHECK(spans[1]["name"] == "tools/call echo");
    CHECK(attribute(spans[1], "mcp.method.name") == "tools/call");
    CHECK(attribute(spans[1], "mcp.protocol.version") == "2025-06-18");
    CHECK(attribute(spans[1], "jsonrpc.request.id") == "1");
    CHECK(attribute(spans[1], "gen_ai.operation.name") == "execute_tool");
    CHECK(attribute(spans[1], "gen_ai.tool.name") == "echo");
    CHECK(attribute(spans[1], "error.type") == "tool_error");
    CHECK(spans[1]["status"]["code"] == 2);
    CHECK(spans[2]["name"] == "tools/call other");
    CHECK(attribute(spans[2], "gen_ai.tool.name") == "other");
    CHECK(attribute(spans[2], "jsonrpc.request.id") == "made-up");
}

namespace {

// A program of the legacy era with the tool `one`, which always fails.
constexpr const char* failing_program = R"sh(
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  begin='{"jsonrpc":"2.0","id":'$id','
  case "$line" in
    *'"initialize"'*) echo "$begin"'"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
    *'"tools/list"'*) echo "$begin"'"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}}';;
    *'"tools/call"'*) echo "$begin"'"result":{"content":[{"type":"text","text":"no"}],"isError":true}}';;
    *'"server/discover"'*) echo "$begin"'"error":{"code":-32601,"message":"unknown"}}';;
    *'"id"'*) echo "$begin"'"result":{}}';;
  esac
done
)sh";

void make_failing(config::settings& settings)
{
    for (auto& each : settings.agents) {
        each.mcp->arguments = {"-c", failing_program};
        each.mcp->start = core::mcp_start::eager;
    }
}

std::string call_of_one(std::string_view name)
{
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + std::string{name} + "\"}}";
}

// A request of the modern era.
http_response send_modern(std::uint16_t port, std::string_view path, std::string_view name)
{
    const field_list fields{
        {"Accept", "application/json, text/event-stream"},
        {"Content-Type", "application/json"},
        {"MCP-Protocol-Version", "2026-07-28"},
        {"Mcp-Method", "tools/call"},
        {"Mcp-Name", std::string{name}}
    };
    const nlohmann::json params{
        {"name", name},
        {"_meta",
         {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientCapabilities", nlohmann::json::object()}}}
    };
    const nlohmann::json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", params}};
    return request(port, "POST", path, fields, body.dump());
}

}  // namespace

TEST_CASE("the result of a program's tool counts, for clients of both eras, in sessions of their own and shared ones")
{
    for (const auto sessions : {core::mcp_sessions::own, core::mcp_sessions::shared}) {
        CAPTURE(static_cast<int>(sessions));
        flow::mcp_programs::program_gateway x{[&](config::settings& settings) {
            make_failing(settings);
            settings.agents[0].mcp->sessions = sessions;
        }};
        REQUIRE(flow::becomes_true([&] {
            return flow::manage(x.gateway(), "agents/health", {{"id", "a"}})["status"] == "healthy";
        }));
        const auto session = x.begin();
        CHECK(x.post(call_of_one("one"), session).status == 200);
        CHECK(x.gateway().wait_for_metric(outcome_metric("one", "tool_error"), 1));
        CHECK(send_modern(x.port(), "/agents/a/mcp", "one").status == 200);
        CHECK(x.gateway().wait_for_metric(outcome_metric("one", "tool_error"), 2));
    }
}

TEST_CASE("the result of a member's tool counts at its agent, for clients of a bundle of both eras")
{
    flow::mcp_bundles::bundle_gateway x{make_failing};
    REQUIRE(flow::becomes_true([&] { return x.modern("tools/list", {})["result"]["tools"].size() == 2; }));
    const auto called = x.post(call_of_one("a__one"), x.begin());
    CHECK(called["result"]["isError"] == true);
    CHECK(flow::becomes_true([&] { return x.metric(outcome_metric("one", "tool_error")) == 1; }));
    CHECK(x.modern("tools/call", {{"name", "a__one"}})["result"]["isError"] == true);
    CHECK(flow::becomes_true([&] { return x.metric(outcome_metric("one", "tool_error")) == 2; }));
}

TEST_SUITE_END();
