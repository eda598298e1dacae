// Callers that share the control session of a server over streamable HTTP.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_shared_http");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

// A server of the legacy era with the tool `echo`; `at` holds back the calls that have `wait` in them. Every call is answered with
// its own arguments.
handler shared_server(const gate& at)
{
    return [at](const recorded_request& request) -> script {
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        const auto method = body.is_object() ? body.value("method", "") : std::string{};
        if (request.method != "POST") {
            return answer(request.method == "DELETE" ? 200 : 405, "");
        }
        if (!body.contains("id")) {
            return answer(202, "");
        }
        if (request.body.find("forget") != std::string::npos) {
            return answer(404, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}})");
        }
        json result = json::object();
        field_list fields;
        if (method == "server/discover") {
            return answer(404, "{}");
        }
        if (method == "initialize") {
            result = json::parse(
                R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"
            );
            fields.emplace_back("Mcp-Session-Id", std::string{server_id});
        } else if (method == "tools/list") {
            result = json::parse(R"({"tools":[{"name":"echo","inputSchema":{}}]})");
        } else if (method == "tools/call") {
            result = body["params"]["arguments"];
        }
        auto whole = answer_json(json{{"jsonrpc", "2.0"}, {"id", body["id"]}, {"result", result}}.dump(), fields);
        if (request.body.find("wait") != std::string::npos) {
            whole.insert(whole.begin(), pass_gate{at.shared()});
        }
        return whole;
    };
}

std::string marked_call(const std::string& mark)
{
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"mark":")" + mark +
           R"("}}})";
}

relayed shared_gateway(const gate& at, const relayed::adjustment& adjust = {})
{
    return relayed{shared_server(at), [adjust](config::settings& settings) {
                       make_mcp(settings);
                       auto& server = *settings.agents[0].mcp;
                       server.sessions = core::mcp_sessions::shared;
                       server.start = core::mcp_start::eager;
                       server.backoff = 5ms;
                       if (adjust) {
                           adjust(settings);
                       }
                   }};
}

std::string begin_when_ready(const relayed& x)
{
    const auto by = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const auto got = post(x, initialize_body);
        if (got.status == 200 || std::chrono::steady_clock::now() >= by) {
            REQUIRE(got.status == 200);
            return got.header("Mcp-Session-Id");
        }
        std::this_thread::sleep_for(2ms);
    }
}

std::size_t posts_with(const relayed& x, std::string_view text)
{
    const auto all = x.agent.requests();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& each) {
        return each.body.find(text) != std::string::npos;
    }));
}

}  // namespace

TEST_CASE("Callers of a server over HTTP that is shared go over the control session, with ids of its own")
{
    const gate at;
    const auto x = shared_gateway(at);
    const auto first = begin_when_ready(x);
    const auto second = begin_when_ready(x);
    CHECK(json::parse(post(x, marked_call("a"), {{"Mcp-Session-Id", first}}).body)["result"]["mark"] == "a");
    CHECK(json::parse(post(x, marked_call("b"), {{"Mcp-Session-Id", second}}).body)["result"]["mark"] == "b");
    CHECK(send(x, "DELETE", with(usual_fields(), {{"Mcp-Session-Id", first}})).status == 200);
    CHECK(post(x, marked_call("c"), {{"Mcp-Session-Id", first}}).status == 404);
    CHECK(json::parse(post(x, marked_call("d")).body)["result"]["mark"] == "d");
    CHECK(posts_with(x, R"("initialize")") == 1);
    std::size_t calls = 0;
    for (const auto& each : x.agent.requests()) {
        CHECK(each.method != "DELETE");
        if (each.body.find("tools/call") != std::string::npos) {
            CHECK(each.header("Mcp-Session-Id") == server_id);
            CHECK(each.header("Traceparent").empty());
            CHECK(each.body.find(R"("id":100000000)" + std::to_string(calls++)) != std::string::npos);
        }
    }
    CHECK(calls == 3);
}

TEST_CASE("Calls that a server over HTTP holds back hold up no other call")
{
    gate at;
    const auto x = shared_gateway(at);
    const auto session = begin_when_ready(x);
    std::vector<http_client> waiting;
    for (std::size_t i = 0; i < 20; ++i) {
        waiting.emplace_back(x.port());
        const auto fields = with(usual_fields(), {{"Mcp-Session-Id", session}, {"Content-Type", "application/json"}});
        waiting.back().send(request_text("POST", "/agents/a/mcp", fields, marked_call("wait")));
    }
    REQUIRE(at.wait_until_reached(20));
    CHECK(json::parse(post(x, marked_call("quick"), {{"Mcp-Session-Id", session}}).body)["result"]["mark"] == "quick");
    at.release(20);
    for (auto& each : waiting) {
        CHECK(each.read_response().body.find(R"("mark":"wait")") != std::string::npos);
    }
}

TEST_CASE("A server over HTTP that has forgotten the control session gets another one, and callers keep theirs")
{
    const gate at;
    const auto x = shared_gateway(at);
    const auto session = begin_when_ready(x);
    check_error(post(x, marked_call("forget"), {{"Mcp-Session-Id", session}}), 200, -32603, "upstream_reset");
    const auto by = std::chrono::steady_clock::now() + patience;
    while (post(x, marked_call("a"), {{"Mcp-Session-Id", session}}).status == 503 &&
           std::chrono::steady_clock::now() < by) {
        std::this_thread::sleep_for(2ms);
    }
    CHECK(json::parse(post(x, marked_call("b"), {{"Mcp-Session-Id", session}}).body)["result"]["mark"] == "b");
    CHECK(posts_with(x, R"("initialize")") == 2);
}

TEST_CASE("A client of the modern era is translated for a server over HTTP that shares a session of the legacy one")
{
    const gate at;
    const auto x = shared_gateway(at);
    const std::string call =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"mark":"m"},"_meta":{)"
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    const field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "echo"}};
    // Workers know the server's era once it has a card.
    const auto by = std::chrono::steady_clock::now() + patience;
    auto got = post(x, call, fields);
    while (got.body.find("resultType") == std::string::npos && std::chrono::steady_clock::now() < by) {
        std::this_thread::sleep_for(2ms);
        got = post(x, call, fields);
    }
    CHECK(json::parse(got.body)["result"] == json::parse(R"({"resultType":"complete","mark":"m"})"));
    CHECK(x.agent.requests().back().header("Mcp-Session-Id") == server_id);
    CHECK(posts_with(x, R"("initialize")") == 1);
}

TEST_CASE("A server over HTTP may keep sessions of callers apart and share its own with calls that have none")
{
    const gate at;
    const auto x = shared_gateway(at, [](config::settings& settings) {
        settings.agents[0].mcp->sessions = core::mcp_sessions::own;
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::shared;
    });
    const auto session = begin_when_ready(x);
    const auto by = std::chrono::steady_clock::now() + patience;
    while (post(x, marked_call("a")).status == 503 && std::chrono::steady_clock::now() < by) {
        std::this_thread::sleep_for(2ms);
    }
    CHECK(json::parse(post(x, marked_call("b")).body)["result"]["mark"] == "b");
    CHECK(json::parse(post(x, marked_call("c"), {{"Mcp-Session-Id", session}}).body)["result"]["mark"] == "c");
    for (const auto& each : x.agent.requests()) {
        if (each.body.find("tools/call") != std::string::npos) {
            const bool in_session = each.body.find(R"("mark":"c")") != std::string::npos;
            CHECK(each.header("Traceparent").empty() != in_session);
            CHECK((each.body.find(R"("id":1,)") != std::string::npos) == in_session);
        }
    }
}

TEST_SUITE_END();
