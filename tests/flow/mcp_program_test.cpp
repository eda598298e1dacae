// Callers' messages to MCP servers that are programs: sessions, answers, streams, questions.
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_program");

using namespace flow;
using namespace flow::mcp_programs;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view priming = "retry: 5000\ndata:\n\n";

}  // namespace

TEST_CASE("A session begins, is called and ends, and its program with it")
{
    const program_gateway x;
    const auto began = x.post(initialize_body);
    CHECK(began.status == 200);
    CHECK(began.header("Content-Type") == "application/json");
    CHECK(
        began.body ==
        R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.50"}}})"
    );
    const auto id = began.header("Mcp-Session-Id");
    CHECK(began.count("Mcp-Session-Id") == 1);
    CHECK(id.size() > 40);
    CHECK(id.size() <= 512);

    const field_list session{{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2025-11-25"}};
    const std::string ready = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
    const auto accepted = x.post(ready, session);
    CHECK(accepted.status == 202);
    CHECK(accepted.body.empty());
    const auto called = x.post(call_of("one", R"("first")"), session);
    CHECK(called.status == 200);
    CHECK(called.header("Content-Type") == "application/json");
    CHECK(called.body == done_of(R"("first")"));
    CHECK(x.got("tools/call") == initialize_body + '\n' + ready + '\n' + call_of("one", R"("first")") + '\n');
    const auto program = x.programs().at(0);
    CHECK(x.running(program));
    CHECK(x.send("DELETE", session).status == 200);
    check_error(x.post(call_of("one"), session), 404, -32001, "session_not_found");
    check_error(x.send("DELETE", session), 404, -32001, "session_not_found");
    check_error(x.send("GET", session), 404, -32001, "session_not_found");
    CHECK(x.becomes_true([&] { return !x.running(program); }));
    CHECK(x.programs().size() == 1);
}

TEST_CASE("An id that is forged, of another agent or of an older gateway is 404")
{
    const program_gateway x{[](config::settings& settings) {
        settings.agents.push_back(settings.agents[0]);
        settings.agents[1].id = "b";
    }};
    const auto session = x.begin();
    const auto id = session[0].second;
    auto changed = id;
    changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
    const program_gateway older;
    for (const auto& wrong : {std::string{"x"}, changed, older.begin()[0].second}) {
        CAPTURE(wrong);
        check_error(x.post(call_of("one"), {{"Mcp-Session-Id", wrong}}), 404, -32001, "session_not_found");
    }
    check_error(x.send("POST", session, call_of("one"), "b"), 404, -32001, "session_not_found");
    CHECK(x.post(call_of("one"), session).status == 200);
}

TEST_CASE("What comes before the answer makes a stream of it, whole and in order")
{
    const program_gateway x;
    const auto session = x.begin();
    const auto got = x.post(call_of("talk"), session);
    CHECK(got.status == 200);
    CHECK(got.header("Content-Type") == "text/event-stream");
    CHECK(got.header("Cache-Control") == "no-cache, no-transform");
    CHECK(got.header("X-Accel-Buffering") == "no");
    CHECK(
        without_ids(got.body) ==
        std::string{priming} +
            event_of(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}})"
            ) +
            event_of(done_of("1"))
    );
    auto older = x.begin();
    older[1].second = "2025-06-18";
    CHECK(without_ids(x.post(call_of("talk"), older).body).starts_with("event: message\n"));
}

TEST_CASE("An answer that takes longer than a second becomes a stream, which comments keep alive")
{
    const program_gateway x{[](config::settings& settings) { settings.timeouts.stream_keep_alive = 20ms; }};
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("wait")));
    const auto head = caller.read_head();
    CHECK(head.header("Content-Type") == "text/event-stream");
    CHECK(head.header("Transfer-Encoding") == "chunked");
    caller.read_until(": keep-alive");
    caller.read_until(": keep-alive");
    x.touch("go");
    caller.read_until(event_of(done_of("1")) + "\r\n0\r\n\r\n");
    // The connection serves the next request.
    caller.send(program_gateway::text("POST", session, call_of("one")));
    CHECK(caller.read_response().body == done_of("1"));
}

TEST_CASE("What a program asks during a call goes to its caller, and the answer comes back")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("ask")));
    caller.read_until(event_of(R"({"jsonrpc":"2.0","id":77,"method":"roots/list"})"));
    const std::string roots = R"({"jsonrpc":"2.0","id":77,"result":{"roots":[]}})";
    CHECK(x.post(roots, session).status == 202);
    const auto rest = caller.read_until("0\r\n\r\n");
    CHECK(rest.find(R"("text":"asked")") != std::string::npos);
    // Late: nobody waits for it any more.
    CHECK(x.post(roots, session).status == 202);
    CHECK(x.post(call_of("one"), session).status == 200);
    const auto all = x.got(call_of("one"));
    CHECK(all.find(roots) == all.rfind(roots));
}

TEST_CASE("What a program asks right before it answers the call is answered by its caller all the same")
{
    const program_gateway x;
    const auto session = x.begin();
    const auto stream = x.post(call_of("both"), session);
    CHECK(stream.body.find(R"(data: {"jsonrpc":"2.0","id":78,"method":"roots/list"})") != std::string::npos);
    CHECK(stream.body.find("data: " + done_of("1")) != std::string::npos);
    const std::string roots = R"({"jsonrpc":"2.0","id":78,"result":{"roots":[]}})";
    CHECK(x.post(roots, session).status == 202);
    CHECK(x.got(roots).find(roots) != std::string::npos);
}

TEST_CASE("What a program says unasked comes over GET, and a second GET takes the place of the first")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client first{x.port()};
    first.send(program_gateway::text("GET", session));
    CHECK(first.read_head().header("Content-Type") == "text/event-stream");
    CHECK(x.post(call_of("tell"), session).status == 200);
    const auto changed = event_of(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    first.read_until(changed);
    http_client second{x.port()};
    second.send(program_gateway::text("GET", session));
    second.read_head();
    first.read_until("\r\n0\r\n\r\n");
    CHECK(x.post(call_of("tell"), session).status == 200);
    second.read_until(changed);
    CHECK(x.send("DELETE", session).status == 200);
    second.read_until("\r\n0\r\n\r\n");
}

TEST_CASE("A stream to a caller of HTTP/1.0 ends with the connection")
{
    const program_gateway x;
    auto text = program_gateway::text("POST", x.begin(), call_of("talk"));
    text.replace(text.find("HTTP/1.1"), 8, "HTTP/1.0");
    http_client caller{x.port()};
    caller.send(text);
    const auto got = caller.read_until_closed();
    CHECK(got.find("Transfer-Encoding") == std::string::npos);
    CHECK(got.ends_with(event_of(done_of("1"))));
}

TEST_CASE("GET and DELETE without a session are 405")
{
    const program_gateway x;
    CHECK(x.send("GET", {}).status == 405);
    CHECK(x.send("DELETE", {}).status == 405);
    CHECK(x.send("PUT", {}).status == 405);
    CHECK(x.programs().empty());
}

TEST_CASE("A cancelled call ends without an answer, and the program hears of it in the client's words")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("hang", "5")));
    x.got("hang");
    const std::string cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})";
    CHECK(x.post(cancel, session).status == 202);
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    CHECK(without_ids(got.body) == priming);
    CHECK(x.got(cancel).ends_with(cancel + '\n'));
}

TEST_CASE("A caller that leaves cancels nothing, and its session goes on")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("hang")));
    x.got("hang");
    caller.close();
    CHECK(x.post(call_of("one", "2"), session).body == done_of("2"));
    CHECK(x.got(call_of("one", "2")).find("cancelled") == std::string::npos);
    CHECK(x.programs().size() == 1);
}

TEST_CASE("Calls with the same id at once get their own answers")
{
    const program_gateway x{[](config::settings& settings) { settings.workers = 2; }};
    const auto first = x.begin();
    const auto second = x.begin();
    std::vector<http_client> callers;
    for (int i = 0; i < 4; ++i) {
        callers.emplace_back(x.port());
        callers.back().send(program_gateway::text("POST", i < 2 ? first : second, call_of("one", "1")));
    }
    for (auto& each : callers) {
        CHECK(each.read_response().body == done_of("1"));
    }
    CHECK(x.programs().size() == 2);
}

TEST_CASE("A call without a session has a program of its own, which ends with it")
{
    const program_gateway x;
    const auto got = x.post(call_of("one"), {{"MCP-Protocol-Version", "2025-06-18"}});
    CHECK(got.status == 200);
    CHECK(got.body == done_of("1"));
    CHECK(got.count("Mcp-Session-Id") == 0);
    CHECK(x.got("tools/call").find(R"("protocolVersion":"2025-06-18")") != std::string::npos);
    const auto program = x.programs().at(0);
    CHECK(x.becomes_true([&] { return !x.running(program); }));
    CHECK(x.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status == 202);
    CHECK(x.post(R"({"jsonrpc":"2.0","id":1,"result":{}})").status == 202);
    CHECK(x.programs().size() == 1);
}

TEST_CASE("An agent that refuses calls without a session answers them with 400")
{
    const program_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::refuse;
    }};
    check_error(x.post(call_of("one")), 400, -31400, "session_required");
    CHECK(x.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status == 400);
    CHECK(x.programs().empty());
    CHECK(x.post(call_of("one"), x.begin()).status == 200);
}

TEST_SUITE_END();
