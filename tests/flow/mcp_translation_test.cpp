// Clients of the modern era that call programs of the legacy era.
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_translation");

using namespace flow;
using namespace flow::mcp_programs;

namespace {

constexpr std::string_view complete = R"("resultType":"complete")";
constexpr std::string_view uncached = R"("resultType":"complete","ttlMs":0,"cacheScope":"private",)";

// Nobody has to find that out: only callers start programs.
void legacy_program(config::settings& settings)
{
    settings.agents[0].mcp->era = core::mcp_era::legacy;
}

// It never says what tools it has.
constexpr const char* unlisted_server = R"(
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\),.*/\1/p')
  case "$line" in
    *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}';;
    *'"initialize"'*)
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.50"}}}';;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}';;
  esac
done
)";

std::string
modern_text(std::string_view id, std::string_view method, std::string_view params = "", std::string_view meta = "")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + std::string{method} + R"(","params":{)" +
           std::string{params} + R"("_meta":{)" + std::string{meta} +
           R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
           R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)" +
           R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}})";
}

field_list modern_fields(std::string_view method, std::string_view name = "")
{
    field_list all{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", std::string{method}}};
    if (!name.empty()) {
        all.emplace_back("Mcp-Name", name);
    }
    return all;
}

std::string
call_text(std::string_view tool, std::string_view id = "1", std::string_view more = "", std::string_view meta = "")
{
    return modern_text(
        id,
        "tools/call",
        R"("name":")" + std::string{tool} + R"(","arguments":{"n":1.50},)" + std::string{more},
        meta
    );
}

http_response
call(const program_gateway& x, std::string_view tool, std::string_view id = "1", std::string_view more = "")
{
    return x.post(call_text(tool, id, more), modern_fields("tools/call", tool));
}

http_response ask(const program_gateway& x, std::string_view method)
{
    return x.post(modern_text("1", method), modern_fields(method));
}

std::string done(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":{)" + std::string{complete} +
           R"(,"content":[]}})";
}

}  // namespace

TEST_CASE(
    "A call of the modern era has a program of its own, which gets it in its own era, and the answer in the client's"
)
{
    const program_gateway x{legacy_program};
    const auto got = call(x, "one", R"("a")");
    CHECK(got.status == 200);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.body == done(R"("a")"));
    CHECK(got.count("Mcp-Session-Id") == 0);
    const auto sent = x.got("tools/call");
    CHECK(sent.find(R"("protocolVersion":"2025-11-25","capabilities":{"roots":{}})") != std::string::npos);
    CHECK(
        sent.find(
            R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"one","arguments":{"n":1.50},"_meta":{}}})"
        ) != std::string::npos
    );
    const auto program = x.programs().at(0);
    CHECK(x.becomes_true([&] { return !x.running(program); }));
    CHECK(x.programs().size() == 1);
}

TEST_CASE("The first call of the modern era finds out that a program speaks the legacy one, and is translated")
{
    const program_gateway x;
    const auto got = call(x, "one", R"("a")");
    CHECK(got.status == 200);
    CHECK(got.body == done(R"("a")"));
    CHECK(x.got("server/discover").find("tools/call") != std::string::npos);
}

TEST_CASE("A call of the modern era waits for the handshake of Cardea's own session, and not for the program's lists")
{
    const program_gateway x{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", unlisted_server};
    }};
    const auto got = call(x, "one");
    CHECK(got.status == 200);
    CHECK(got.body == done("1"));
}

TEST_CASE("Progress of a call comes as an event before its answer, and its log level goes to the program first")
{
    const program_gateway x{legacy_program};
    const auto got = x.post(
        call_text("talk", "1", "", R"("progressToken":7,"io.modelcontextprotocol/logLevel":"debug",)"),
        modern_fields("tools/call", "talk")
    );
    CHECK(got.header("Content-Type") == "text/event-stream");
    CHECK(
        got.body ==
        event_of(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}})") +
            event_of(done("1"))
    );
    const auto sent = x.got("tools/call");
    CHECK(sent.find(R"("method":"logging/setLevel","params":{"level":"debug"})") < sent.find("tools/call"));
}

TEST_CASE(
    "What a program is and lists is known before a call, with the agent's filters, and without a program once a "
    "session serves"
)
{
    program_gateway x{[](config::settings& settings) {
        legacy_program(settings);
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::fresh;
        settings.agents[0].mcp->tools.deny = {"secret"};
        settings.agents[0].mcp->tools.names = {{"one", "first"}};
    }};
    const auto check = [&] {
        const auto discovered = ask(x, "server/discover");
        CHECK(
            discovered.body ==
            R"({"jsonrpc":"2.0","id":1,"result":{)" + std::string{uncached} +
                R"("supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},)"
                R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shell","version":"1.50"}}}})"
        );
        CHECK(
            ask(x, "tools/list").body == R"({"jsonrpc":"2.0","id":1,"result":{)" + std::string{uncached} +
                                             R"("tools":[{"name":"first","inputSchema":{}}]}})"
        );
    };
    check();
    CHECK(x.programs().size() == 2);
    CHECK(x.becomes_true([&] {
        http_client caller{x.port()};
        caller.send(request_text("GET", "/agents/a/.well-known/agent-card.json", {}));
        return caller.read_response().status == 200;
    }));
    const auto programs = x.programs().size();
    check();
    CHECK(x.programs().size() == programs);
    CHECK(call(x, "first").body == done("1"));
    CHECK(json::parse(call(x, "secret").body)["error"]["code"] == -32602);
}

TEST_CASE("What a program asks is asked of the client in an answer, and the call goes on with the client's next request"
)
{
    const program_gateway x{legacy_program};
    const auto asked = call(x, "ask");
    CHECK(asked.status == 200);
    const auto result = json::parse(asked.body)["result"];
    CHECK(result["resultType"] == "input_required");
    CHECK(result["inputRequests"] == json::parse(R"({"input-1":{"method":"roots/list"}})"));
    const auto state = result["requestState"].get<std::string>();
    const auto next = [](const std::string& with) {
        return R"("requestState":")" + with + R"(","inputResponses":{"input-1":{"roots":[{"uri":"file:///r"}]}},)";
    };
    check_error(call(x, "one", "2", next(state)), 400, -32602, "input_expired");
    auto forged = state;
    forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
    check_error(call(x, "ask", "2", next(forged)), 400, -32602, "input_expired");
    const auto got = call(x, "ask", R"("next")", next(state));
    CHECK(
        got.body == R"({"jsonrpc":"2.0","id":"next","result":{)" + std::string{complete} +
                        R"(,"content":[{"type":"text","text":"asked"}]}})"
    );
    CHECK(
        x.got("file:///r").find(R"({"jsonrpc":"2.0","id":77,"result":{"roots":[{"uri":"file:///r"}]}})") !=
        std::string::npos
    );
    check_error(call(x, "ask", "3", next(state)), 400, -32602, "input_expired");
    CHECK(x.programs().size() == 1);
}

TEST_CASE("A call that is translated or waits for its client is counted, and its access line says so")
{
    program_gateway x{legacy_program};
    CHECK(call(x, "ask").status == 200);
    const auto line = x.gateway().log().wait_for([](std::string_view each) {
        return each.find(R"("rpc":"tools/call")") != std::string_view::npos;
    });
    REQUIRE(line.has_value());
    CHECK(json::parse(*line)["translated"] == true);
    CHECK(x.gateway().wait_for_metric(R"(cardea_mcp_translated_total{agent="a",era="modern"})", 1));
    CHECK(x.gateway().wait_for_metric("cardea_mcp_parked_calls", 1));
    CHECK(x.gateway().wait_for_metric(R"(cardea_mcp_server_requests_total{method="roots/list",outcome="passed"})", 1));
    x.begin();
    const auto began = x.gateway().log().wait_for([](std::string_view each) {
        return each.find(R"("rpc":"initialize")") != std::string_view::npos;
    });
    REQUIRE(began.has_value());
    CHECK_FALSE(json::parse(*began).contains("translated"));
}

TEST_CASE("A long call that waits for its client goes on with the same arguments only")
{
    const program_gateway x;
    const auto call_with = [&x](char padding, const std::string& more) {
        const auto text = modern_text(
            "1",
            "tools/call",
            R"("name":"ask","arguments":{"a":")" + std::string(std::size_t{257} * 1024, padding) + "\"}," + more
        );
        return x.post(text, modern_fields("tools/call", "ask"));
    };
    // A shell reads a long line byte by byte: on a busy machine for more than the second after which an answer is a stream.
    auto body = call_with('a', "").body;
    body.erase(0, body.find('{'));
    const auto asked = json::parse(body.substr(0, body.find('\n')));
    const auto state = asked["result"]["requestState"].get<std::string>();
    const auto next = R"("requestState":")" + state + R"(","inputResponses":{"input-1":{"roots":[]}},)";
    check_error(call_with('b', next), 400, -32602, "input_expired");
    CHECK(call_with('a', next).body.find(R"("text":"asked")") != std::string::npos);
}

TEST_CASE("A client of the modern era that leaves ends its call and the program")
{
    const program_gateway x{legacy_program};
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", modern_fields("tools/call", "hang"), call_text("hang")));
    x.got("tools/call");
    const auto program = x.programs().at(0);
    caller.close();
    CHECK(x.becomes_true([&] { return !x.running(program); }));
}

TEST_CASE("A subscription of the modern era gets its result at the gateway's end")
{
    program_gateway x;
    http_client listener{x.port()};
    listener.send(program_gateway::text(
        "POST",
        modern_fields("subscriptions/listen"),
        modern_text(R"("l")", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)")
    ));
    listener.read_until("subscriptions/acknowledged");
    x.gateway().stop();
    const auto rest = listener.read_until("0\r\n\r\n");
    CHECK(rest.find(R"("id":"l","result":{"resultType":"complete",)") != std::string::npos);
    CHECK(rest.find(R"("draining")") == std::string::npos);
    CHECK(x.gateway().wait_until_stopped());
}

TEST_CASE("A program that ends during a call of the modern era fails it with 502, and one that takes no session too")
{
    const program_gateway x{[](config::settings& settings) {
        legacy_program(settings);
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::fresh;
    }};
    CHECK(call(x, "crash").status == 502);
    x.touch("refuse");
    CHECK(call(x, "one").status == 502);
    CHECK(ask(x, "server/discover").status == 502);
}

TEST_CASE("A client of both eras falls back to a session with a legacy program, and one that goes on is translated")
{
    std::string form;
    SUBCASE("as JSON or events")
    {
        form = "application/json, text/event-stream";
    }
    SUBCASE("as JSON")
    {
        form = "application/json";
    }
    SUBCASE("as events")
    {
        form = "text/event-stream";
    }
    const program_gateway x{legacy_program};
    auto fields = modern_fields("server/discover");
    fields.emplace_back("Accept", form);
    const auto got = x.post(modern_text(R"("d")", "server/discover"), fields);
    CHECK(got.status == 400);
    CHECK(got.header("Content-Type") == "application/json");
    const auto body = json::parse(got.body);
    CHECK(body["id"] == "d");
    CHECK(body["error"]["code"] == -32601);
    CHECK(x.programs().empty());
    CHECK(call(x, "one", R"("a")").body == done(R"("a")"));
}

TEST_CASE("An agent that refuses calls without a session refuses those of the modern era with 400")
{
    const program_gateway x{[](config::settings& settings) {
        legacy_program(settings);
        settings.agents[0].mcp->sessionless = core::mcp_sessionless::refuse;
    }};
    CHECK(ask(x, "server/discover").status == 400);
    CHECK(call(x, "one").status == 400);
    CHECK(x.programs().empty());
}

TEST_SUITE_END();
