// Bundles of servers over streamable HTTP: what the server of a member gets of a client of the legacy era.
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_bundle_http");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

relayed bundle_gateway(handler server = listing_server)
{
    return relayed{std::move(server), [](config::settings& settings) {
                       make_mcp(settings);
                       settings.agents[0].mcp->start = core::mcp_start::eager;
                       core::mcp_bundle bundle;
                       bundle.name = "default";
                       bundle.agents = {{"a", "as"}};
                       settings.mcp.bundles.push_back(std::move(bundle));
                   }};
}

http_response send_to_bundle(const relayed& x, std::string_view method, field_list fields, std::string_view body = {})
{
    http_client caller{x.port()};
    if (!body.empty()) {
        fields.emplace_back("Content-Type", "application/json");
    }
    caller.send(request_text(method, "/mcp", with(usual_fields(), fields), body));
    return caller.read_response();
}

// A client of the latest version, which the server of the fixture does not speak.
field_list begin_at_bundle(const relayed& x)
{
    const std::string initialize =
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
        R"("clientInfo":{"name":"test","version":"1"}}})";
    const auto got = send_to_bundle(x, "POST", {}, initialize);
    REQUIRE(got.status == 200);
    CHECK(json::parse(got.body)["result"]["protocolVersion"] == "2025-11-25");
    return {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2025-11-25"}};
}

std::string call_at_bundle(std::string_view tool, std::string_view id = "1")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":"tools/call","params":{"name":")" +
           std::string{tool} + R"(","arguments":{}}})";
}

}  // namespace

TEST_CASE("A member gets its own session, its own name and the version that it has agreed to")
{
    const auto x = bundle_gateway();
    const auto session = begin_at_bundle(x);
    const auto called = send_to_bundle(x, "POST", session, call_at_bundle("as__echo"));
    CHECK(called.status == 200);
    CHECK(json::parse(called.body)["result"].contains("content"));
    std::vector<recorded_request> calls;
    for (const auto& each : x.agent.requests()) {
        if (each.body.find("tools/call") != std::string::npos) {
            calls.push_back(each);
        }
    }
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].header("Mcp-Session-Id") == server_id);
    CHECK(calls[0].count("MCP-Protocol-Version") == 1);
    CHECK(calls[0].header("MCP-Protocol-Version") == "2025-06-18");
    CHECK(calls[0].body == call_at_bundle("echo"));
}

TEST_CASE("An event of a call names its member, and a client that comes back for more goes there")
{
    const auto x = bundle_gateway([](const recorded_request& request) {
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        if (request.method == "GET" && request.header("Last-Event-ID") == "one") {
            return answer(
                200,
                "id: two\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n",
                {{"Content-Type", "text/event-stream"}}
            );
        }
        if (body.is_object() && body.value("method", "") == "tools/call") {
            return answer(200, "id: one\ndata:\n\n", {{"Content-Type", "text/event-stream"}});
        }
        return listing_server(request);
    });
    auto session = begin_at_bundle(x);
    const auto called = send_to_bundle(x, "POST", session, call_at_bundle("as__echo"));
    CHECK(called.status == 200);
    const auto at = called.body.find("id: ");
    REQUIRE(at != std::string::npos);
    const auto id = called.body.substr(at + 4, called.body.find('\n', at) - at - 4);
    CHECK(id != "one");
    session.emplace_back("Last-Event-ID", id);
    const auto resumed = send_to_bundle(x, "GET", session);
    CHECK(resumed.status == 200);
    CHECK(resumed.body.find(R"("id":1,"result")") != std::string::npos);
    CHECK(resumed.body.find("id: two") == std::string::npos);
    // "a", NUL, and what would be more of the head.
    session.back().second = "YQB4DQpYLUV2aWw6IDE";
    http_client forger{x.port()};
    forger.send(request_text("GET", "/mcp", with(usual_fields(), session)));
    CHECK(forger.read_until("\r\n\r\n").find("200") != std::string::npos);
    for (const auto& each : x.agent.requests()) {
        CHECK(each.header("X-Evil").empty());
    }
    session.back().second = "unknown";
    http_client listener{x.port()};
    listener.send(request_text("GET", "/mcp", with(usual_fields(), session)));
    CHECK(listener.read_until("\r\n\r\n").find("200") != std::string::npos);  // as at an agent: a stream of what comes
}

TEST_CASE("A call by call_tool repeats in its head what the tool wants repeated")
{
    auto x = relayed{
        [](const recorded_request& request) {
            const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
            const auto method = body.is_object() ? body.value("method", "") : std::string{};
            const auto result = [&body](std::string_view text) {
                return answer_json(
                    R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{"resultType":"complete",)" +
                    std::string{text} + "}}"
                );
            };
            if (method == "server/discover") {
                return result(R"("supportedVersions":["2026-07-28"],"capabilities":{"tools":{}})");
            }
            if (method == "tools/list") {
                return result(
                    R"("ttlMs":0,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object",)"
                    R"("properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}])"
                );
            }
            return method == "tools/call" ? result(R"("content":[])") : answer(405, "");
        },
        [](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->start = core::mcp_start::eager;
            settings.agents[0].mcp->era = core::mcp_era::modern;
            core::mcp_bundle bundle;
            bundle.name = "default";
            bundle.agents = {{"a", "as"}};
            bundle.search = true;
            settings.mcp.bundles.push_back(std::move(bundle));
        }
    };
    const auto call = [&x](const field_list& fields, const json& meta) {
        const json params{
            {"name", "call_tool"},
            {"arguments", {{"name", "as__echo"}, {"arguments", {{"region", "eu"}}}}},
            {"_meta", meta}
        };
        const json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", params}};
        return send_to_bundle(x, "POST", fields, body.dump());
    };
    const auto modern = call(
        {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "call_tool"}},
        {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
         {"io.modelcontextprotocol/clientCapabilities", json::object()}}
    );
    CHECK(modern.status == 200);
    CHECK(json::parse(modern.body)["result"].contains("content"));
    const auto legacy = call(begin_at_bundle(x), json::object());
    CHECK(json::parse(legacy.body)["result"].contains("content"));
    std::size_t calls = 0;
    for (const auto& each : x.agent.requests()) {
        if (each.body.find("tools/call") != std::string::npos) {
            ++calls;
            CHECK(each.header("Mcp-Name") == "echo");
            CHECK(each.count("Mcp-Param-Region") == 1);
            CHECK(each.header("Mcp-Param-Region") == "eu");
        }
    }
    CHECK(calls == 2);
}

TEST_CASE("The answer of a client to a question has an answer with a length, whatever the member's has")
{
    const auto x = bundle_gateway([](const recorded_request& request) {
        return request.body.find("progressToken") != std::string::npos
                   ? answer(202, "", {{"Transfer-Encoding", "chunked"}})
                   : listing_server(request);
    });
    const auto session = begin_at_bundle(x);
    CHECK(send_to_bundle(x, "POST", session, call_at_bundle("as__echo")).status == 200);
    const auto taken = send_to_bundle(x, "POST", session, R"({"jsonrpc":"2.0","id":"x","result":{}})");
    CHECK(taken.status == 202);
    CHECK((taken.header("Content-Length") == "0" || !taken.header("Transfer-Encoding").empty()));
}

namespace {

// A call that goes on.
http_client begin_at(const relayed& x, std::string_view path, field_list fields, std::string_view body)
{
    fields.emplace_back("Content-Type", "application/json");
    http_client caller{x.port()};
    caller.send(request_text("POST", path, with(usual_fields(), fields), body));
    return caller;
}

bool begins_session_of_bundle(const recorded_request& request)
{
    return request.body.find(R"("name":"cardea/default")") != std::string::npos;
}

// Sessions of clients wait for `begun` before they begin.
handler slow_server(const gate& begun, const handler& server = listing_server)
{
    return [begun, server](const recorded_request& request) {
        return begins_session_of_bundle(request) ? then({pass_gate{begun.shared()}}, server(request)) : server(request);
    };
}

template <class Wanted>
std::size_t count_requests(const relayed& x, Wanted wanted)
{
    return static_cast<std::size_t>(std::ranges::count_if(x.agent.requests(), wanted));
}

bool calls_tool(const recorded_request& request)
{
    return request.body.find("tools/call") != std::string::npos;
}

}  // namespace

TEST_CASE("A call is cancelled while the session with its member begins")
{
    gate begun;
    const auto x = bundle_gateway(slow_server(begun));
    const auto session = begin_at_bundle(x);
    auto caller = begin_at(x, "/mcp", session, call_at_bundle("as__echo", "7"));
    REQUIRE(begun.wait_until_reached());
    const auto* const cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})";
    CHECK(send_to_bundle(x, "POST", session, cancel).status == 202);
    begun.release();
    CHECK(caller.read_response().status == 202);
    CHECK(count_requests(x, calls_tool) == 0);
    CHECK(send_to_bundle(x, "POST", session, call_at_bundle("as__echo", "7")).status == 200);
}

TEST_CASE("Calls that wait for the session with one member share its failure, and the next call tries again")
{
    gate begun;
    const auto x = bundle_gateway(slow_server(begun, [](const recorded_request& request) {
        return begins_session_of_bundle(request)
                   ? answer_json(R"({"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"not today"}})")
                   : listing_server(request);
    }));
    const auto session = begin_at_bundle(x);
    std::vector<http_client> callers;
    for (const auto* const id : {"1", "2", "3", "4"}) {
        callers.push_back(begin_at(x, "/mcp", session, call_at_bundle("as__echo", id)));
    }
    REQUIRE(begun.wait_until_reached());
    std::this_thread::sleep_for(300ms);  // for the others, which nothing tells of
    begun.release(2);
    for (auto& each : callers) {
        CHECK(json::parse(each.read_response().body).contains("error"));
    }
    CHECK(count_requests(x, begins_session_of_bundle) == 1);
    CHECK(json::parse(send_to_bundle(x, "POST", session, call_at_bundle("as__echo")).body).contains("error"));
    CHECK(count_requests(x, begins_session_of_bundle) == 2);
}

TEST_CASE("A session that its client ends while a member starts is ended at that member too")
{
    gate begun;
    const auto x = bundle_gateway(slow_server(begun));
    const auto session = begin_at_bundle(x);
    auto caller = begin_at(x, "/mcp", session, call_at_bundle("as__echo"));
    REQUIRE(begun.wait_until_reached());
    CHECK(send_to_bundle(x, "DELETE", session).status == 200);
    begun.release();
    CHECK(caller.read_response().header("Cardea-Error") == "session_not_found");
    const auto by = std::chrono::steady_clock::now() + patience;
    const auto ends_it = [](const recorded_request& request) {
        return request.method == "DELETE" && request.header("Mcp-Session-Id") == server_id;
    };
    while (count_requests(x, ends_it) == 0 && std::chrono::steady_clock::now() < by) {
        std::this_thread::sleep_for(2ms);
    }
    CHECK(count_requests(x, ends_it) == 1);
    CHECK(count_requests(x, calls_tool) == 0);
}

namespace {

// The bundle `name`, whose member lists nothing before `listed`.
relayed starting_gateway(const gate& listed, const std::string& name, bool search)
{
    return relayed{
        [listed](const recorded_request& request) {
            const bool waits = request.body.find("tools/list") != std::string::npos;
            return waits ? then({pass_gate{listed.shared()}}, listing_server(request)) : listing_server(request);
        },
        [&](config::settings& settings) {
            make_mcp(settings);
            settings.agents[0].mcp->start = core::mcp_start::eager;
            core::mcp_bundle bundle;
            bundle.name = name;
            bundle.agents = {{"a", "as"}};
            bundle.list_wait = 1s;
            bundle.search = search;
            settings.mcp.bundles.push_back(std::move(bundle));
            settings.deadlines.fields = {"X-Request-Timeout-Ms"};
        }
    };
}

}  // namespace

TEST_CASE("The log names the bundle of a call for which that was published again meanwhile")
{
    const std::string name = "a-name-that-is-longer-than-a-pointer-or-two";
    const auto path = "/mcp/" + name;
    gate listed;
    const auto x = starting_gateway(listed, name, /*search=*/false);
    auto opening = begin_at(x, path, {{"X-Request-Timeout-Ms", "1"}}, initialize_body);
    const field_list session{{"Mcp-Session-Id", opening.read_response().header("Mcp-Session-Id")}};
    auto caller = begin_at(x, path, session, call_at_bundle("echo"));
    REQUIRE(listed.wait_until_reached());
    std::this_thread::sleep_for(100ms);  // for the call, which waits and of which nothing tells
    listed.release(8);
    CHECK(json::parse(caller.read_response().body).contains("result"));
    const auto line = x.gateway.log().wait_for([](std::string_view each) {
        return each.find(R"("event":"request")") != std::string_view::npos &&
               each.find(R"("rpc":"initialize")") != std::string_view::npos &&
               each.find(R"("agent":"a")") != std::string_view::npos;
    });
    REQUIRE(line);
    CHECK(line->find(R"("bundle":")" + name + '"') != std::string::npos);
}

TEST_CASE("A search waits once for members that are starting")
{
    gate listed;
    const auto x = starting_gateway(listed, "default", /*search=*/true);
    auto opening = begin_at(x, "/mcp", {{"X-Request-Timeout-Ms", "1"}}, initialize_body);
    const field_list session{{"Mcp-Session-Id", opening.read_response().header("Mcp-Session-Id")}};
    const auto call = [](std::string_view tool, std::string_view arguments) {
        return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + std::string{tool} +
               R"(","arguments":)" + std::string{arguments} + "}}";
    };
    const auto begun = std::chrono::steady_clock::now();
    const auto unknown = send_to_bundle(x, "POST", session, call("call_tool", R"({"name":"nope"})"));
    const auto took = std::chrono::steady_clock::now() - begun;
    CHECK(json::parse(unknown.body)["result"]["isError"] == true);
    CHECK(took >= 1s);
    CHECK(took < 1900ms);
    listed.release(8);
}
