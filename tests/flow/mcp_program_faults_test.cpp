// What goes wrong between callers and MCP servers that are programs: programs that end, refuse or cannot start, limits, and the
// end of the gateway.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/mcp_program_faults");

using namespace flow::mcp_programs;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view modern_call =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one","_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}})";

}  // namespace

TEST_CASE("A program that ends during a call fails that call with 200, and the session goes on with another program")
{
    const program_gateway x;
    const auto session = x.begin();
    const auto other = x.begin();
    const auto got = x.post(call_of("crash"), session);
    check_error(got, 200, -32603, "upstream_reset");
    CHECK(json::parse(got.body)["id"] == 1);
    CHECK(x.post(call_of("one", "2"), session).body == done_of("2"));
    CHECK(x.post(call_of("one", "3"), other).body == done_of("3"));
    CHECK(x.programs().size() == 3);
}

TEST_CASE("A program that ends while a stream is open fails the call within the stream")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("ask")));
    caller.read_until(R"("method":"roots/list")");
    ::kill(std::stoi(x.programs().at(0)), SIGKILL);
    const auto rest = caller.read_until("0\r\n\r\n");
    CHECK(rest.find(R"("id":1,"error":{"code":-32603)") != std::string::npos);
    CHECK(rest.find(R"("code":"upstream_reset")") != std::string::npos);
}

TEST_CASE("A session whose program is lost ends if the agent tells of losses")
{
    const program_gateway x{[](config::settings& settings) { settings.agents[0].mcp->on_lost = core::mcp_loss::tell; }};
    const auto session = x.begin();
    check_error(x.post(call_of("crash"), session), 200, -32603, "upstream_reset");
    check_error(x.post(call_of("one"), session), 404, -32001, "session_not_found");
}

TEST_CASE("A server's refusal of initialize passes unchanged, and is no session")
{
    const program_gateway x;
    x.touch("refuse");
    const auto got = x.post(initialize_body);
    CHECK(got.status == 200);
    CHECK(got.body == R"({"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"not today"}})");
    CHECK(got.count("Mcp-Session-Id") == 0);
}

TEST_CASE("A program that speaks an unknown version begins no session, and its client is told so")
{
    const program_gateway x;
    x.touch("strange");
    const auto got = x.post(initialize_body);
    check_error(got, 502, -32603, "upstream_protocol");
    CHECK(got.count("Mcp-Session-Id") == 0);
}

TEST_CASE("What a program says before it has answered initialize makes a stream with the session's id")
{
    const program_gateway x;
    x.touch("greet");
    const auto got = x.post(initialize_body);
    CHECK(got.header("Content-Type") == "text/event-stream");
    CHECK(got.body.find("hello") < got.body.find("protocolVersion"));
    const auto id = got.header("Mcp-Session-Id");
    CHECK(x.post(call_of("one"), {{"Mcp-Session-Id", id}}).body == done_of("1"));
}

TEST_CASE("A program that cannot be started is an error of initialize with a status of its own")
{
    const program_gateway x{[](config::settings& settings) { settings.agents[0].mcp->command = "/no/such/program"; }};
    const auto got = x.post(initialize_body);
    check_error(got, 503, -31503, "session_misconfigured");
    CHECK(json::parse(got.body)["id"] == 0);
    CHECK(x.post(call_of("one")).status == 503);
}

TEST_CASE("A program that does not answer initialize in time is an error of initialize")
{
    const program_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", "cat > /dev/null"};
        settings.agents[0].mcp->initialize_timeout = 100ms;
    }};
    check_error(x.post(initialize_body), 504, -32603, "upstream_timeout");
}

TEST_CASE("A call that is silent for too long fails with 200, and the program is told")
{
    const program_gateway x{[](config::settings& settings) { settings.agents[0].mcp->call_timeout = 10ms; }};
    const auto session = x.begin();
    const auto got = x.post(call_of("hang"), session);
    const auto told = x.got("notifications/cancelled");
    CHECK(got.status == 200);
    CHECK(got.body.find(R"("code":"upstream_timeout")") != std::string::npos);
    CHECK(told.find("notifications/cancelled") != std::string::npos);
}

TEST_CASE("Sessions up to max_sessions begin, and the next one is 503 until one has ended")
{
    const program_gateway x{[](config::settings& settings) { settings.agents[0].mcp->max_sessions = 2; }};
    const auto first = x.begin();
    x.begin();
    const auto got = x.post(initialize_body);
    check_error(got, 503, -31503, "session_limit");
    CHECK_FALSE(got.header("Retry-After").empty());
    check_error(x.post(call_of("one")), 503, -31503, "session_limit");
    CHECK(x.send("DELETE", first).status == 200);
    x.begin();
}

TEST_CASE("A session is good for its principal only")
{
    const program_gateway x{[](config::settings& settings) {
        settings.access.providers = {flow::token("ann", "token-of-ann", {}), flow::token("bob", "token-of-bob", {})};
        settings.agents[0].discover = flow::everybody_known;
        settings.agents[0].call = flow::everybody_known;
    }};
    CHECK(x.post(initialize_body).status == 401);
    const auto session = x.begin({{"Authorization", "Bearer token-of-ann"}});
    CHECK(x.post(call_of("one"), session).status == 200);
    auto stolen = session;
    stolen[0].second = "Bearer token-of-bob";
    check_error(x.post(call_of("one"), stolen), 404, -32001, "session_not_found");
    check_error(x.send("DELETE", stolen), 404, -32001, "session_not_found");
    CHECK(x.post(call_of("one"), session).status == 200);
}

TEST_CASE("Hidden tools are -32602 before the program hears of them, lists are edited, and new names hold")
{
    const program_gateway x{[](config::settings& settings) {
        auto& tools = settings.agents[0].mcp->tools;
        tools.deny = {"secret"};
        tools.names = {{"one", "first_of_all"}};
        tools.descriptions = {{"first_of_all", "It is the first"}};
    }};
    const auto session = x.begin();
    const auto hidden = x.post(call_of("secret"), session);
    CHECK(hidden.status == 200);
    CHECK(json::parse(hidden.body)["error"]["code"] == -32602);
    CHECK(json::parse(x.post(call_of("one"), session).body)["error"]["code"] == -32602);
    CHECK(x.post(call_of("first_of_all", "2"), session).body == done_of("2"));
    const auto list = x.post(R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})", session);
    CHECK(
        list.body ==
        R"({"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"first_of_all","description":"It is the first","inputSchema":{}}]}})"
    );
    const auto all = x.got("tools/list");
    CHECK(all.find(call_of("one", "2")) != std::string::npos);
    CHECK(all.find("secret") == std::string::npos);
}

TEST_CASE("A batch is refused in every version, with and without a session, and reaches no program")
{
    const program_gateway x;
    auto opening = initialize_body;
    opening.replace(opening.find("2025-11-25"), 10, "2025-03-26");
    const field_list older{{"Mcp-Session-Id", x.post(opening).header("Mcp-Session-Id")}};
    const auto batch = "[" + call_of("one") + "]";
    for (const auto& fields : {older, x.begin(), field_list{{"MCP-Protocol-Version", "2025-03-26"}}}) {
        check_error(x.post(batch, fields), 400, -32600, "invalid_request");
    }
    CHECK(x.post(call_of("one"), older).status == 200);
    CHECK(x.got("tools/call").find(batch) == std::string::npos);
}

TEST_CASE("A program of the modern era serves all callers of that era, and a caller that leaves cancels")
{
    const program_gateway x{[](config::settings& settings) { settings.agents[0].mcp->era = core::mcp_era::modern; }};
    const field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "one"}};
    const auto got = x.post(modern_call, fields);
    CHECK(got.status == 200);
    CHECK(got.body == done_of("1"));
    CHECK(got.count("Mcp-Session-Id") == 0);
    CHECK(x.post(modern_call, fields).body == done_of("1"));
    auto hangs = std::string{modern_call};
    hangs.replace(hangs.find("\"one\""), 5, "\"hang\"");
    auto to_hang = fields;
    to_hang[2].second = "hang";
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", to_hang, hangs));
    x.got("hang");
    caller.close();
    CHECK(x.got("notifications/cancelled").find("notifications/cancelled") != std::string::npos);
    CHECK(x.programs().size() == 1);
}

TEST_CASE("An error of the modern era has the status that the era gives it, and one of the legacy era is 200")
{
    const program_gateway modern{[](config::settings& settings) { settings.agents[0].mcp->era = core::mcp_era::modern; }
    };
    const auto asked = [](const std::string& tool) {
        auto call = std::string{modern_call};
        return call.replace(call.find("\"one\""), 5, '"' + tool + '"');
    };
    constexpr std::array<std::pair<const char*, unsigned>, 6> rows{{
        {"fail-32601", 404},
        {"fail-32020", 400},
        {"fail-32021", 400},
        {"fail-32022", 400},
        {"fail-32602", 200},
        {"fail-32000", 200},
    }};
    for (const auto& [tool, status] : rows) {
        CAPTURE(tool);
        const auto got = modern.post(
            asked(tool),
            {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", tool}}
        );
        CHECK(got.status == status);
        CHECK(json::parse(got.body)["error"]["code"].dump() == std::string{tool}.substr(4));
    }
    const program_gateway legacy;
    CHECK(legacy.post(call_of("fail-32601"), legacy.begin()).status == 200);
}

TEST_CASE("At the gateway's end streams are whole: a call gets its error, and a listener the end")
{
    program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("ask")));
    caller.read_until(R"("method":"roots/list")");
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    const auto program = x.programs().at(0);
    x.gateway().stop();
    const auto rest = caller.read_until("0\r\n\r\n");
    CHECK(rest.find(R"("code":"draining")") != std::string::npos);
    CHECK(listener.read_until("0\r\n\r\n").find("error") == std::string::npos);
    CHECK(x.gateway().wait_until_stopped());
    CHECK_FALSE(x.running(program));
}

TEST_CASE("A call that is no stream yet when the gateway ends becomes one that says so")
{
    program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("hang")));
    x.got("hang");
    x.gateway().stop();
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    CHECK(got.header("Content-Type") == "text/event-stream");
    CHECK(got.body.find(R"("code":"draining")") != std::string::npos);
    CHECK(x.gateway().wait_until_stopped());
}

TEST_CASE("The line about a call names its method, tool, era and session, and neither id nor arguments")
{
    program_gateway x;
    const auto session = x.begin();
    x.post(call_of("one", R"("id-of-the-call")"), session);
    const auto line = x.gateway().log().wait_for([](std::string_view each) {
        return each.find(R"("rpc":"tools/call")") != std::string_view::npos;
    });
    REQUIRE(line);
    const auto said = json::parse(*line);
    CHECK(said["route"] == "mcp");
    CHECK(said["tool"] == "one");
    CHECK(said["era"] == "legacy");
    CHECK(said["session"].get<std::string>().size() == 8);
    CHECK(said["status"] == 200);
    for (const auto* secret : {"id-of-the-call", "1.50", session[0].second.c_str()}) {
        CHECK(line->find(secret) == std::string::npos);
    }
}

TEST_SUITE_END();
