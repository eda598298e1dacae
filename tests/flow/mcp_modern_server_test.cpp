// Clients of either era in front of a program that speaks only the modern one.
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_modern_server");

using namespace flow;
using namespace flow::mcp_programs;

namespace {

// Each line that comes is kept in the file `got`. `hang` gets no answer, `talk` says how far it is first, `need` asks the client for
// its roots before it answers.
constexpr const char* modern_server = R"(
echo $$ >> pids
while read -r line; do
  printf '%s\n' "$line" >> got
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\),"method".*/\1/p')
  token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\([0-9]*\).*/\1/p')
  done='{"jsonrpc":"2.0","id":'$id',"result":{"resultType":"complete","content":[]}}'
  case "$line" in
    *'"notifications/'*) ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}';;
    *'"server/discover"'*)
      echo '{"jsonrpc":"2.0","id":'$id',"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shell","version":"1.50"}}}}';;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"one","inputSchema":{}},{"name":"secret","inputSchema":{}}]}}';;
    *'"resources/read"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32602,"message":"Resource not found"}}';;
    *hang*) ;;
    *inputResponses*) echo "$done";;
    *need*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"state 1.50"}}';;
    *talk*) echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'$token',"progress":1}}'; echo "$done";;
    *) echo "$done";;
  esac
done
)";

program_gateway::adjustment modern_program(core::mcp_era era)
{
    return [era](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", modern_server};
        settings.agents[0].mcp->era = era;
    };
}

std::string completed(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":{"resultType":"complete","content":[]}})";
}

constexpr std::string_view opening =
    R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1.50"}}})";

http_response modern_call(const program_gateway& x, const std::string& tool = "one", const field_list& more = {})
{
    field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", tool}};
    fields.insert(fields.end(), more.begin(), more.end());
    return x.post(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool +
            R"(","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{}}}})",
        fields
    );
}

}  // namespace

TEST_CASE("A client of the modern era uses such a program as it is, from its first call on, configured or found out")
{
    for (const auto era : {core::mcp_era::modern, core::mcp_era::automatic}) {
        const program_gateway x{modern_program(era)};
        const auto got = modern_call(x);
        CHECK(got.status == 200);
        CHECK(got.body == completed("1"));
        CHECK(modern_call(x).body == completed("1"));
        CHECK(x.got("tools/call").find(R"("initialize")") == std::string::npos);
        CHECK(x.programs().size() == (era == core::mcp_era::modern ? 1 : 2));
    }
}

TEST_CASE("Fields that repeat arguments are compared for a program, which does not get them")
{
    std::string listing = modern_server;
    const std::string plain = R"({"name":"one","inputSchema":{}})";
    const auto at = listing.find(plain);
    REQUIRE(at != std::string::npos);
    listing.replace(
        at,
        plain.size(),
        R"({"name":"one","inputSchema":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Count"}}}})"
    );
    const program_gateway x{[&](config::settings& settings) {
        modern_program(core::mcp_era::modern)(settings);
        settings.agents[0].mcp->arguments = {"-c", listing};
    }};
    const bool listed = program_gateway::becomes_true([&] {
        http_client caller{x.port()};
        caller.send(request_text("GET", "/agents/a/.well-known/agent-card.json", {}));
        return caller.read_response().status == 200;
    });
    REQUIRE(listed);
    const auto call = [&](const field_list& parameters) {
        field_list fields{
            {"MCP-Protocol-Version", "2026-07-28"},
            {"Mcp-Method", "tools/call"},
            {"Mcp-Name", "one"},
        };
        fields.insert(fields.end(), parameters.begin(), parameters.end());
        return x.post(
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one","arguments":{"n":7},"_meta":{)"
            R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
            fields
        );
    };
    check_error(call({{"Mcp-Param-Count", "8"}}), 400, -32020, "header_mismatch");
    check_error(call({{"Mcp-Param-Count", "7"}, {"mcp-param-count", "7"}}), 400, -32020, "header_mismatch");
    check_error(call({}), 400, -32020, "header_mismatch");
    CHECK(call({{"mcp-param-count", "7"}, {"Mcp-Param-Other", "8"}}).body == completed("1"));
    const auto all = x.got(R"("arguments":{"n":7})");
    const auto first = all.find(R"("arguments":{"n":7})");
    REQUIRE(first != std::string::npos);
    CHECK(all.find(R"("arguments":{"n":7})", first + 1) == std::string::npos);
}

TEST_CASE("A stream of events of a program goes on beyond timeouts.call, and gets its result at the gateway's end")
{
    program_gateway x{[](config::settings& settings) {
        modern_program(core::mcp_era::modern)(settings);
        settings.agents[0].mcp->call_timeout = std::chrono::milliseconds{100};
    }};
    const auto events = [](std::string_view id, std::string_view method) {
        return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + std::string{method} +
               R"(","params":{"name":"hang","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
               R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
    };
    http_client listener{x.port()};
    listener.send(program_gateway::text(
        "POST",
        {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "events/stream"}},
        events(R"("s")", "events/stream")
    ));
    x.got("events/stream");
    const auto polled =
        x.post(events("1", "events/poll"), {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "events/poll"}});
    CHECK(polled.body.find("upstream_timeout") != std::string::npos);
    x.gateway().stop();
    const auto rest = listener.read_until("0\r\n\r\n");
    CHECK(rest.find(R"({"jsonrpc":"2.0","id":"s","result":{"resultType":"complete"}})") != std::string::npos);
    CHECK(rest.find(R"("error")") == std::string::npos);
    CHECK(x.gateway().wait_until_stopped());
}

TEST_CASE("A client of the modern era gets 503, and why, of a program whose era cannot be found out")
{
    const program_gateway broken{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", "exit 1"};
    }};
    const auto got = modern_call(broken);
    check_error(got, 503, -31503, "session_failed");
    CHECK(!got.header("Retry-After").empty());
    const program_gateway silent{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", "cat > /dev/null"};
        settings.agents[0].mcp->initialize_timeout = std::chrono::milliseconds{100};
    }};
    const auto late = modern_call(silent);
    CHECK(late.status == 503);
    CHECK(!late.header("Retry-After").empty());
}

TEST_CASE("A client's deadline ends its wait for the era of a program, and for a program's answer")
{
    const field_list hasty{{"X-Request-Timeout-Ms", "500"}};
    const auto begun = std::chrono::steady_clock::now();
    const program_gateway silent{[](config::settings& settings) {
        settings.agents[0].mcp->arguments = {"-c", "cat > /dev/null"};
        settings.agents[0].mcp->initialize_timeout = 2 * patience;
    }};
    check_error(modern_call(silent, "one", hasty), 504, -32603, "upstream_timeout");
    const program_gateway x{modern_program(core::mcp_era::modern)};
    CHECK(modern_call(x).status == 200);
    check_error(modern_call(x, "hang", hasty), 504, -32603, "upstream_timeout");
    CHECK(x.got("notifications/cancelled").find("notifications/cancelled") != std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begun < patience);
}

TEST_CASE("A client of the legacy era uses a program that speaks only the modern one, configured or found out")
{
    for (const auto era : {core::mcp_era::modern, core::mcp_era::automatic}) {
        const program_gateway x{modern_program(era)};
        const auto began = x.post(initialize_body);
        CHECK(began.status == 200);
        CHECK(began.body == opening);
        const field_list session{
            {"Mcp-Session-Id", began.header("Mcp-Session-Id")},
            {"MCP-Protocol-Version", "2025-11-25"}
        };
        CHECK(x.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session).status == 202);
        CHECK(
            x.post(R"({"jsonrpc":"2.0","id":4,"method":"ping"})", session).body ==
            R"({"jsonrpc":"2.0","id":4,"result":{}})"
        );
        const auto called = x.post(call_of("one", R"("first")"), session);
        CHECK(called.status == 200);
        CHECK(called.header("Content-Type") == "application/json");
        CHECK(called.body == completed(R"("first")"));
        const auto all = x.got("tools/call");
        CHECK(all.find(R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}})") != std::string::npos);
        CHECK(all.find(R"("arguments":{"n":1.50})") != std::string::npos);
        CHECK(all.find("notifications/initialized") == std::string::npos);
        check_error(
            x.post(R"({"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"x:y"}})", session),
            200,
            -32602,
            ""
        );
        CHECK(x.send("DELETE", session).status == 200);
        check_error(x.post(call_of("one"), session), 404, -32001, "session_not_found");
        // The second one is known already.
        x.begin();
        CHECK(x.programs().size() == (era == core::mcp_era::modern ? 1 : 2));
    }
}

TEST_CASE("Each message of a translated session is counted, and its access line says so")
{
    program_gateway x{modern_program(core::mcp_era::modern)};
    const auto session = x.begin();
    CHECK(x.post(call_of("one"), session).status == 200);
    CHECK(x.post(call_of("one")).status == 200);
    CHECK(modern_call(x).status == 200);
    CHECK(x.gateway().wait_for_metric(R"(cardea_mcp_translated_total{agent="a",era="legacy"})", 3));
    CHECK_FALSE(x.gateway().metric(R"(cardea_mcp_translated_total{agent="a",era="modern"})").has_value());
    const auto line = x.gateway().log().wait_for([](std::string_view each) {
        return each.find(R"("rpc":"tools/call")") != std::string_view::npos;
    });
    REQUIRE(line.has_value());
    CHECK(json::parse(*line)["translated"] == true);
}

TEST_CASE("What a modern program asks for reaches the client as a request, and its answer goes up with the call")
{
    const program_gateway x{modern_program(core::mcp_era::modern)};
    const auto session = x.begin();
    http_client caller{x.port()};
    caller.send(program_gateway::text("POST", session, call_of("need")));
    caller.read_until(event_of(R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})"));
    CHECK(x.post(R"({"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///1.50"}]}})", session).status == 202);
    caller.read_until(event_of(completed("1")));
    const auto all = x.got("inputResponses");
    CHECK(
        all.find(R"("inputResponses":{"r":{"roots":[{"uri":"file:///1.50"}]}},"requestState":"state 1.50")") !=
        std::string::npos
    );
    CHECK(x.programs().size() == 1);
}

TEST_CASE("A translated client resumes a stream, and is asked there what it has not got")
{
    const program_gateway x{modern_program(core::mcp_era::modern)};
    const auto session = x.begin();
    const auto behind = [&session](const std::string& event) {
        auto fields = session;
        fields.emplace_back("Last-Event-ID", event);
        return fields;
    };
    const auto talked = x.post(call_of("talk"), session).body;
    CHECK(x.send("GET", behind(ids_in(talked).at(0))).body == talked);
    http_client lost{x.port()};
    lost.send(program_gateway::text("POST", session, call_of("need", "2")));
    const auto begun = ids_in(lost.read_until("data:\n\n")).at(0);
    lost.close();
    http_client back{x.port()};
    back.send(program_gateway::text("GET", behind(begun)));
    back.read_until(event_of(R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})"));
    CHECK(x.post(R"({"jsonrpc":"2.0","id":1,"result":{"roots":[]}})", session).status == 202);
    back.read_until(event_of(completed("2")));
}

TEST_CASE("Progress, filters and calls without a session hold for a translated client")
{
    const program_gateway x{[](config::settings& settings) {
        modern_program(core::mcp_era::modern)(settings);
        settings.agents[0].mcp->tools.deny = {"secret"};
    }};
    const auto session = x.begin();
    const auto talked = x.post(call_of("talk"), session);
    CHECK(talked.header("Content-Type") == "text/event-stream");
    CHECK(talked.body.find(R"("params":{"progressToken":7,"progress":1})") != std::string::npos);
    CHECK(talked.body.ends_with(event_of(completed("1"))));
    const auto list = x.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", session).body;
    CHECK(list.find("one") != std::string::npos);
    CHECK(list.find("secret") == std::string::npos);
    check_error(x.post(call_of("secret"), session), 200, -32602, "invalid_params");
    const auto alone = x.post(call_of("one"));
    CHECK(alone.body == completed("1"));
    CHECK(alone.count("Mcp-Session-Id") == 0);
    CHECK(x.got("tools/call").find("secret\",\"arg") == std::string::npos);
}

TEST_SUITE_END();
