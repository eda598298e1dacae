// Callers that share the control session of an MCP server.
#include "tests/flow/mcp_shared_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_shared");

using namespace flow;
using namespace flow::mcp_shared;
using namespace std::chrono_literals;

namespace {

const std::string done_empty = R"({"jsonrpc":"2.0","id":1,"result":{}})";
const std::string tools_changed = event_of(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");

std::size_t count_of(std::string_view text, std::string_view part)
{
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

// The answer with this mark, with progress before it if it reports that, and nothing else.
bool is_all_of(std::string_view body, std::string_view mark, bool reports)
{
    const std::string progress =
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"message":")" +
        std::string{mark} + R"("}})";
    return count_of(body, "jsonrpc") == (reports ? 2 : 1) && count_of(body, progress) == (reports ? 1 : 0) &&
           body.find(marked_answer(mark)) != body.npos;
}

}  // namespace

TEST_CASE("A shared session begins here, is called over the control session, and ends without it")
{
    const shared_gateway x;
    const auto began = x.post(initialize_body);
    CHECK(began.status == 200);
    CHECK(
        began.body ==
        R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},)"
        R"("resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"shell","version":"1.50"},)"
        R"("instructions":"Use it \"well\"."}})"
    );
    const auto session = x.begin();
    CHECK(x.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session).status == 202);
    const auto got = x.post(marked_call("one", "m", R"("a\u0062")"), session);
    CHECK(got.status == 200);
    CHECK(got.body == marked_answer("m", R"("a\u0062")"));
    CHECK(x.send("DELETE", session).status == 200);
    check_error(x.post(marked_call("one", "m"), session), 404, -32001, "session_not_found");
    check_error(x.send("GET", session), 404, -32001, "session_not_found");
    CHECK(x.post(marked_call("one", "n"), x.begin()).body == marked_answer("n"));
    CHECK(x.sent(R"("initialize")") == 1);
    CHECK(x.sent(R"("notifications/initialized")") == 1);
    CHECK(x.programs().size() == 1);
    CHECK(x.running(x.programs()[0]));
}

TEST_CASE("Of 50 clients with equal ids and tokens each gets its own answers and progress")
{
    const shared_gateway x{[](config::settings& settings) { settings.workers = 2; }};
    constexpr std::size_t clients = 50;
    constexpr std::size_t rounds = 20;
    std::vector<field_list> sessions;
    std::vector<http_client> callers;
    for (std::size_t i = 0; i < clients; ++i) {
        sessions.push_back(x.begin());
        callers.emplace_back(x.port());
    }
    std::size_t misdelivered = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        const bool reports = round % 2 == 1;
        const auto mark = [round](std::size_t i) { return std::to_string(i) + "-" + std::to_string(round); };
        for (std::size_t i = 0; i < clients; ++i) {
            const auto call = marked_call(reports ? "report" : "one", mark(i));
            callers[i].send(program_gateway::text("POST", sessions[i], call));
        }
        for (std::size_t i = 0; i < clients; ++i) {
            misdelivered += is_all_of(callers[i].read_response().body, mark(i), reports) ? 0 : 1;
        }
    }
    CHECK(misdelivered == 0);
    CHECK(x.programs().size() == 1);
    CHECK(x.sent(R"("progressToken":"t")") == 0);
}

TEST_CASE("What the server asks or logs reaches no caller, and no log level reaches the server")
{
    const shared_gateway x;
    const auto session = x.begin();
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    const auto got = x.post(marked_call("chat", "m"), session);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.body == marked_answer("m"));
    CHECK(x.got(R"("id":77,)").find(R"("code":-32601)") != std::string::npos);
    CHECK(x.post(request_of("logging/setLevel", R"({"level":"debug"})"), session).body == done_empty);
    CHECK(x.post(request_of("ping"), session).body == done_empty);
    CHECK(json::parse(x.post(request_of("tasks/list"), session).body)["error"]["code"] == -32601);
    CHECK(x.post(R"({"jsonrpc":"2.0","id":77,"result":{"roots":[]}})", session).status == 202);
    CHECK(x.post(marked_call("relists", "n"), session).body == marked_answer("n"));
    CHECK(listener.read_until(tools_changed).find("notifications/message") == std::string::npos);
    CHECK(x.sent("logging/setLevel") == 0);
    CHECK(x.sent("tasks/list") == 0);
    CHECK(x.sent(R"("roots":[])") == 0);
}

TEST_CASE("A resource is subscribed to once for all sessions, and until the last of them has ended")
{
    const shared_gateway x;
    std::vector<field_list> sessions;
    std::vector<http_client> listeners;
    for (std::size_t i = 0; i < 3; ++i) {
        sessions.push_back(x.begin());
        listeners.emplace_back(x.port());
        listeners.back().send(program_gateway::text("GET", sessions.back()));
        listeners.back().read_head();
    }
    const std::string params = R"({"uri":"file:///x"})";
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(x.post(request_of("resources/subscribe", params), sessions[i]).body == done_empty);
    }
    CHECK(x.sent("resources/subscribe") == 1);
    CHECK(x.post(marked_call("updates", "m"), sessions[2]).status == 200);
    CHECK(x.post(marked_call("relists", "m"), sessions[2]).status == 200);
    const auto updated =
        event_of(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///x/1"}})");
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK((listeners[i].read_until(tools_changed).find(updated) != std::string::npos) == (i < 2));
    }
    CHECK(x.post(request_of("resources/unsubscribe", params), sessions[0]).body == done_empty);
    CHECK(x.post(request_of("resources/unsubscribe", params), sessions[2]).body == done_empty);
    CHECK(x.sent("resources/unsubscribe") == 0);
    CHECK(x.send("DELETE", sessions[1]).status == 200);
    CHECK(x.got("resources/unsubscribe").find(R"("file:///x")") != std::string::npos);
    CHECK(x.sent("resources/unsubscribe") == 1);
    x.touch("no_subscriptions");
    const auto refused = json::parse(x.post(request_of("resources/subscribe", params, R"("s")"), sessions[0]).body);
    CHECK(refused["id"] == "s");
    CHECK(refused["error"]["code"] == -32002);
}

TEST_CASE("A client cancels its own call and nobody else's, though theirs has the same id")
{
    const shared_gateway x;
    const auto mine = x.begin();
    const auto other = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", mine, marked_call("hang", "m", "5")));
    x.got("hang");
    const std::string cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})";
    CHECK(x.post(cancel, other).status == 202);
    CHECK(x.post(marked_call("one", "n"), other).body == marked_answer("n"));
    CHECK(x.sent("notifications/cancelled") == 0);
    CHECK(x.post(cancel, mine).status == 202);
    CHECK(caller.read_response().body.find("result") == std::string::npos);
    CHECK(x.got("notifications/cancelled").find(R"("requestId":1000000000)") != std::string::npos);
}

TEST_CASE("When the control session is lost its calls fail, and sessions and subscriptions go on with the next one")
{
    const shared_gateway x;
    const auto session = x.begin();
    CHECK(x.post(request_of("resources/subscribe", R"({"uri":"file:///x"})"), session).body == done_empty);
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    http_client waiting{x.port()};
    waiting.send(program_gateway::text("POST", x.begin(), marked_call("hang", "m")));
    x.got("hang");
    check_error(x.post(marked_call("crash", "m"), session), 200, -32603, "upstream_reset");
    CHECK(waiting.read_response().body.find(R"("code":"upstream_reset")") != std::string::npos);
    listener.read_until(tools_changed);
    CHECK(x.becomes_true([&] { return x.sent("resources/subscribe") == 2; }));
    CHECK(x.post(marked_call("updates", "n"), session).body == marked_answer("n"));
    listener.read_until(R"("uri":"file:///x/1")");
    CHECK(x.programs().size() == 2);
    CHECK(x.sent(R"("initialize")") == 2);
}

TEST_CASE("Shared sessions end with the control session if the agent tells of losses")
{
    const shared_gateway x{[](config::settings& settings) { settings.agents[0].mcp->on_lost = core::mcp_loss::tell; }};
    const auto session = x.begin();
    check_error(x.post(marked_call("crash", "m"), session), 200, -32603, "upstream_reset");
    CHECK(x.becomes_ready());
    check_error(x.post(marked_call("one", "m"), session), 404, -32001, "session_not_found");
}

TEST_CASE("A call without a session goes over the control session where that is shared with such calls")
{
    const shared_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->sessions = core::mcp_sessions::own;
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::shared;
    }};
    CHECK(x.becomes_true([&] { return x.post(marked_call("one", "m")).status == 200; }));
    const auto began = x.programs().size();
    CHECK(x.post(marked_call("one", "m")).body == marked_answer("m"));
    CHECK(x.post(request_of("resources/subscribe", R"({"uri":"file:///x"})")).status == 400);
    CHECK(x.programs().size() == began);
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", {}, marked_call("hang", "m")));
    x.got("hang");
    caller.close();
    CHECK(x.got("notifications/cancelled").find("notifications/cancelled") != std::string::npos);
    // A session has a program of its own.
    x.begin();
    CHECK(x.programs().size() == began + 1);
}

TEST_CASE("A server whose card the operator wrote has a control session for callers that share it, and keeps that card")
{
    const shared_gateway x{[](config::settings& settings) {
        settings.agents[0].card = R"({"name":"Written","description":"By hand","version":"7","skills":[]})";
    }};
    CHECK(x.post(marked_call("one", "m"), x.begin()).body == marked_answer("m"));
    http_client caller{x.port()};
    caller.send(request_text("GET", "/agents/a/.well-known/agent-card.json", {}, {}));
    const auto card = caller.read_response();
    CHECK(card.status == 200);
    CHECK(card.body.find(R"("name":"Written")") != std::string::npos);
}

TEST_CASE("Without a control session initialize is 503 with the session's code, and so is a call")
{
    const program_gateway x{[](config::settings& settings) {
        make_shared(settings);
        settings.agents[0].mcp->start = core::mcp_start::lazy;
        settings.agents[0].mcp->arguments = {"-c", "cat > got"};
    }};
    // To ask was enough for it to begin.
    const auto got = x.post(initialize_body);
    check_error(got, 503, -31503, "session_not_ready");
    CHECK_FALSE(got.header("Retry-After").empty());
    check_error(x.post(marked_call("one", "m")), 503, -31503, "session_not_ready");
    CHECK(x.got("server/discover").find("server/discover") != std::string::npos);
}

TEST_CASE("Filters, max_sessions and timeouts.call hold in shared sessions")
{
    const shared_gateway x{[](config::settings& settings) {
        auto& server = *settings.agents[0].mcp;
        server.tools.deny = {"secret"};
        server.max_sessions = 1;
        server.call_timeout = 10ms;
    }};
    const auto session = x.begin();
    check_error(x.post(initialize_body), 503, -31503, "session_limit");
    CHECK(json::parse(x.post(marked_call("secret", "m"), session).body)["error"]["code"] == -32602);
    CHECK(x.post(request_of("tools/list"), session).body.find("secret") == std::string::npos);
    CHECK(x.post(marked_call("hang", "m"), session).body.find(R"("code":"upstream_timeout")") != std::string::npos);
    CHECK(x.got("notifications/cancelled").find("notifications/cancelled") != std::string::npos);
    CHECK(x.sent(R"("name":"secret")") == 0);
}

TEST_CASE("A program of the modern era serves callers of either era over the control session")
{
    const program_gateway x{[](config::settings& settings) {
        make_shared(settings);
        settings.agents[0].mcp->environment = {{"MODERN", core::secret{"1"}}};
    }};
    const field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "one"}};
    const std::string call =
        R"({"jsonrpc":"2.0","id":"m","method":"tools/call","params":{"name":"one","arguments":{"mark":"a"},"_meta":{)"
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)"
        R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}})";
    CHECK(x.becomes_true([&] { return x.post(call, fields).status == 200; }));
    CHECK(x.post(call, fields).body == marked_answer("a", R"("m")"));
    const auto session = x.begin();
    CHECK(x.post(marked_call("one", "b"), session).body == marked_answer("b"));
    CHECK(x.post(marked_call("one", "c")).body == marked_answer("c"));
    CHECK(x.send("DELETE", session).status == 200);
    check_error(x.post(marked_call("one", "d"), session), 404, -32001, "session_not_found");
    CHECK(x.programs().size() == 1);
}

TEST_CASE("A client of the modern era uses a shared program of the legacy one, which asks it for nothing")
{
    shared_gateway x;
    const auto ask = [&x](std::string_view method, std::string_view params = "", std::string_view name = "") {
        field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", std::string{method}}};
        if (!name.empty()) {
            fields.emplace_back("Mcp-Name", name);
        }
        return x.post(
            R"({"jsonrpc":"2.0","id":"m","method":")" + std::string{method} + R"(","params":{)" + std::string{params} +
                R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                R"("io.modelcontextprotocol/logLevel":"debug",)"
                R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}})",
            fields
        );
    };
    const std::string complete = R"({"jsonrpc":"2.0","id":"m","result":{"resultType":"complete",)";
    for (const auto* tool : {"one", "chat"}) {
        const auto called =
            ask("tools/call", R"("name":")" + std::string{tool} + R"(","arguments":{"mark":"a"},)", tool);
        CHECK(called.status == 200);
        CHECK(called.header("Content-Type") == "application/json");
        CHECK(called.body == complete + R"("content":[{"type":"text","text":"a"}]}})");
    }
    CHECK(x.sent(R"("name":"one","arguments":{"mark":"a"},"_meta":{}}})") == 1);
    CHECK(x.sent("logging/setLevel") == 0);
    CHECK(
        ask("tools/list").body ==
        complete +
            R"("ttlMs":0,"cacheScope":"private","tools":[{"name":"one","inputSchema":{}},{"name":"secret","inputSchema":{}}]}})"
    );
    const auto discovered = ask("server/discover");
    CHECK(discovered.status == 400);
    CHECK(json::parse(discovered.body)["error"]["code"] == -32601);
    const auto late = ask("tools/call", R"("name":"one","arguments":{"mark":"a"},"requestState":"x",)", "one");
    check_error(late, 400, -32602, "input_expired");
    CHECK(x.gateway().wait_for_metric(R"(cardea_mcp_translated_total{agent="a",era="modern"})", 5));
    CHECK(x.programs().size() == 1);
}

TEST_CASE("At the gateway's end calls in shared sessions are told so, and the one program ends")
{
    shared_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, marked_call("hang", "m")));
    x.got("hang");
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    x.gateway().stop();
    CHECK(caller.read_response().body.find(R"("code":"draining")") != std::string::npos);
    listener.read_until("0\r\n\r\n");
    CHECK(x.gateway().wait_until_stopped());
    CHECK_FALSE(x.running(x.programs()[0]));
}

TEST_SUITE_END();
