// Clients of the modern era that call servers over streamable HTTP that speak the legacy one only.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

TEST_SUITE_BEGIN("flow/mcp_translated_http");

using namespace flow;
using namespace flow::mcp_calls;

namespace {

std::string result_text(const json& id, std::string_view result)
{
    return R"({"jsonrpc":"2.0","id":)" + id.dump() + R"(,"result":)" + std::string{result} + "}";
}

// A server that needs a session for everything, as the SDKs' do.
script legacy_server(const recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    if (method == "initialize") {
        constexpr std::string_view opened =
            R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})";
        return answer_json(result_text(body["id"], opened), {{"Mcp-Session-Id", "s-1"}});
    }
    if (request.header("Mcp-Session-Id") != "s-1") {
        return answer(
            400,
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}})"
        );
    }
    if (request.method == "GET") {
        return answer(405, "");
    }
    if (request.method == "DELETE") {
        return answer(200, "");
    }
    if (!body.contains("id") || method.empty()) {
        return answer(202, "");
    }
    if (method == "tools/list") {
        return answer_json(result_text(body["id"], R"({"tools":[{"name":"t","inputSchema":{}}]})"));
    }
    if (request.body.find("\"ask\"") != std::string::npos) {
        return event_stream();
    }
    return answer_json(result_text(body["id"], R"({"content":[],"n":1.50})"));
}

std::string modern_call(std::string_view tool, std::string_view id, std::string_view more = "")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":"tools/call","params":{"name":")" +
           std::string{tool} + R"(",)" + std::string{more} +
           R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}})";
}

http_response call(const relayed& x, std::string_view tool, std::string_view id = "1", std::string_view more = "")
{
    const field_list fields{
        {"MCP-Protocol-Version", "2026-07-28"},
        {"Mcp-Method", "tools/call"},
        {"Mcp-Name", std::string{tool}},
        {"X-Tenant", "x"}
    };
    return post(x, modern_call(tool, id, more), fields);
}

relayed legacy_gateway(const relayed::adjustment& adjust = {})
{
    return relayed{legacy_server, [adjust](config::settings& settings) {
                       make_mcp(settings);
                       settings.agents[0].mcp->era = core::mcp_era::legacy;
                       if (adjust) {
                           adjust(settings);
                       }
                   }};
}

const std::string complete = R"({"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[],"n":1.50}})";

}  // namespace

TEST_CASE("A call has a session of its own with the server, which gets nothing of the client but the message")
{
    auto x = legacy_gateway();
    const auto got = call(x, "t", R"("a")");
    CHECK(got.status == 200);
    CHECK(got.body == complete);
    REQUIRE(x.agent.wait_for_requests(5));
    auto all = x.agent.requests();
    CHECK(json::parse(all[0].body)["params"]["capabilities"] == json::parse(R"({"elicitation":{}})"));
    CHECK(all[1].method == "GET");
    CHECK(all[1].header("Mcp-Session-Id") == "s-1");
    all.erase(all.begin() + 1);
    CHECK(json::parse(all[1].body)["method"] == "notifications/initialized");
    CHECK(json::parse(all[2].body)["params"] == json::parse(R"({"name":"t","_meta":{}})"));
    CHECK(all[2].header("Mcp-Session-Id") == "s-1");
    CHECK(all[2].header("MCP-Protocol-Version") == "2025-06-18");
    CHECK(all[2].header("Mcp-Method").empty());
    CHECK(all[2].header("X-Tenant").empty());
    CHECK(all[3].method == "DELETE");
    CHECK(all[3].header("Mcp-Session-Id") == "s-1");
}

TEST_CASE("A server whose era is not known gets the message as it is, until its session has shown that it is legacy")
{
    auto x = legacy_gateway([](config::settings& settings) { settings.agents[0].mcp->era = core::mcp_era::automatic; });
    const auto before = call(x, "t", R"("a")");
    CHECK(before.status == 400);
    CHECK(x.agent.request(0).header("Mcp-Name") == "t");
    const auto by = std::chrono::steady_clock::now() + patience;
    bool served = false;
    while (!served && std::chrono::steady_clock::now() < by) {
        http_client caller{x.port()};
        caller.send(request_text("GET", "/agents/a/.well-known/agent-card.json", {}));
        served = caller.read_response().status == 200;
    }
    CHECK(served);
    CHECK(call(x, "t", R"("a")").body == complete);
}

TEST_CASE("A server that gets fields of the caller gets the message as it is")
{
    auto x = legacy_gateway([](config::settings& settings) { settings.agents[0].mcp->forward_headers = {"X-Tenant"}; });
    CHECK(call(x, "t").status == 400);
    CHECK(x.agent.request(0).header("X-Tenant") == "x");
}

TEST_CASE("What a server asks in the stream of a call goes to the client in an answer, and the call goes on")
{
    auto x = legacy_gateway();
    http_response asked;
    std::thread first{[&] { asked = call(x, "ask"); }};
    const bool streams = x.agent.wait_for_streams(1);
    if (streams) {
        x.agent.send_event(R"({"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"m"}})");
    }
    first.join();
    REQUIRE(streams);
    const auto result = json::parse(asked.body)["result"];
    CHECK(
        result["inputRequests"] ==
        json::parse(R"({"input-1":{"method":"elicitation/create","params":{"message":"m"}}})")
    );
    const auto state = result["requestState"].get<std::string>();
    http_response got;
    std::thread second{[&] {
        got = call(
            x,
            "ask",
            "2",
            R"("inputResponses":{"input-1":{"action":"accept"}},"requestState":")" + state + R"(",)"
        );
    }};
    const bool answered = x.agent.wait_for([](const auto& all) {
        return std::ranges::any_of(all, [](const recorded_request& each) {
            return each.body == R"({"jsonrpc":"2.0","id":0,"result":{"action":"accept"}})";
        });
    });
    const auto all = x.agent.requests();
    const auto asks =
        std::ranges::find_if(all, [](const auto& each) { return each.body.find("tools/call") != std::string::npos; });
    if (answered && asks != all.end()) {
        x.agent.send_event(result_text(json::parse(asks->body)["id"], R"({"content":[]})"));
    }
    second.join();
    CHECK(answered);
    CHECK(got.body == R"({"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}})");
}

TEST_CASE("What a server asks beside the stream of a call goes to the client too, and its answer reaches the server")
{
    relayed x{
        [](const recorded_request& request) {
            if (request.method == "GET" && request.header("Mcp-Session-Id") == "s-1") {
                return event_stream();
            }
            const bool hangs = request.body.find("\"hang\"") != std::string::npos;
            return hangs ? test_support::silence() : legacy_server(request);
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->era = core::mcp_era::legacy;
        }
    };
    http_response asked;
    std::thread first{[&] { asked = call(x, "hang"); }};
    const bool called = x.agent.wait_for([](const auto& all) {
        return std::ranges::any_of(all, [](const auto& each) {
            return each.body.find("\"hang\"") != std::string::npos;
        });
    });
    if (called && x.agent.wait_for_streams(1)) {
        x.agent.send_event(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"m"}})");
    }
    first.join();
    REQUIRE(called);
    const auto result = json::parse(asked.body)["result"];
    CHECK(result["resultType"] == "input_required");
    http_client caller{x.port()};
    const auto state = result["requestState"].get<std::string>();
    caller.send(request_text(
        "POST",
        "/agents/a/mcp",
        {{"Accept", "application/json, text/event-stream"},
         {"Content-Type", "application/json"},
         {"MCP-Protocol-Version", "2026-07-28"},
         {"Mcp-Method", "tools/call"},
         {"Mcp-Name", "hang"}},
        modern_call(
            "hang",
            "2",
            R"("inputResponses":{"input-1":{"action":"accept"}},"requestState":")" + state + R"(",)"
        )
    ));
    CHECK(x.agent.wait_for([](const auto& all) {
        return std::ranges::any_of(all, [](const recorded_request& each) {
            return each.body == R"({"jsonrpc":"2.0","id":5,"result":{"action":"accept"}})";
        });
    }));
}

TEST_CASE("A client of both eras falls back to a session with a legacy server over HTTP")
{
    auto x = legacy_gateway();
    const auto discover = [](const relayed& of) {
        return post(
            of,
            R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":)"
            R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
            {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "server/discover"}}
        );
    };
    const auto got = discover(x);
    CHECK(got.status == 400);
    CHECK(json::parse(got.body)["error"]["code"] == -32601);
    CHECK(x.agent.requests().empty());
    CHECK_FALSE(begin(x).empty());
    auto answered = legacy_gateway([](config::settings& settings) {
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::fresh;
    });
    const auto known = discover(answered);
    CHECK(known.status == 200);
    CHECK(json::parse(known.body)["result"]["supportedVersions"] == json::parse(R"(["2026-07-28"])"));
}

TEST_CASE("A client that leaves cancels its call at the server, and then ends its session there")
{
    auto x = legacy_gateway();
    {
        http_client caller{x.port()};
        caller.send(request_text(
            "POST",
            "/agents/a/mcp",
            {{"Accept", "application/json, text/event-stream"},
             {"Content-Type", "application/json"},
             {"MCP-Protocol-Version", "2026-07-28"},
             {"Mcp-Method", "tools/call"},
             {"Mcp-Name", "ask"}},
            modern_call("ask", "1")
        ));
        REQUIRE(x.agent.wait_for_streams(1));
    }
    CHECK(x.agent.wait_for([](const auto& all) { return all.back().method == "DELETE"; }));
    const auto all = x.agent.requests();
    const auto& cancelled = all[all.size() - 2];
    CHECK(cancelled.body.find(R"("method":"notifications/cancelled")") != std::string::npos);
    CHECK(cancelled.header("Mcp-Session-Id") == "s-1");
    const auto asks =
        std::ranges::find_if(all, [](const auto& each) { return each.body.find("tools/call") != std::string::npos; });
    REQUIRE(asks != all.end());
    CHECK(json::parse(cancelled.body)["params"]["requestId"] == json::parse(asks->body)["id"]);
}

TEST_SUITE_END();
