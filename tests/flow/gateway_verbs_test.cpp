// The verbs of the command line that ask a running gateway beside `cardea agents`: status, events, call, reload, config dump --running.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/gateway_verbs");

using namespace std::chrono_literals;
using core::json;
using flow::a2a_agent;
using flow::parsed;
using flow::quick_settings;
using flow::running_gateway;
using test_support::answer_json;
using test_support::scripted_agent;

namespace {

using arguments = std::vector<std::string>;

struct outcome {
    int code = -1;
    std::string out;
    std::string err;
};

std::string admin_of(const running_gateway& gateway)
{
    return "127.0.0.1:" + std::to_string(gateway.admin_port());
}

flow::child_process begun(const running_gateway& gateway, arguments given)
{
    return {CARDEA_BIN, std::move(given), {{"CARDEA_ADMIN=" + admin_of(gateway)}, {}}};
}

outcome end_of(flow::child_process& child)
{
    const auto code = child.wait();
    REQUIRE(code.has_value());
    return {*code, child.out(), child.err()};
}

outcome cardea(const running_gateway& gateway, arguments given)
{
    auto child = begun(gateway, std::move(given));
    return end_of(child);
}

// What is printed by a command that is done.
std::string said(const running_gateway& gateway, arguments given)
{
    const auto done = cardea(gateway, std::move(given));
    CHECK(done.err.empty());
    CHECK(done.code == 0);
    return done.out;
}

// An MCP server of 2026-07-28: tools in two pages, of which `fail` reports an error.
test_support::script modern_server(const test_support::recorded_request& request)
{
    const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const auto method = body.is_object() ? body.value("method", "") : std::string{};
    const auto result = [&](const std::string& text) {
        return answer_json(R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":)" + text + '}');
    };
    if (method == "server/discover") {
        return result(
            R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,)"
            R"("cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})"
        );
    }
    if (method == "tools/list") {
        const bool second = body["params"].contains("cursor");
        return result(
            R"({"resultType":"complete","ttlMs":0,"cacheScope":"private",)" +
            std::string{second ? "" : R"("nextCursor":"2",)"} + R"("tools":[{"name":")" + (second ? "fail" : "echo") +
            R"(","description":"Does it","inputSchema":{"type":"object","properties":{"where":{"type":"string",)"
            R"("x-mcp-header":"Where"}}}}]})"
        );
    }
    const auto params = body.is_object() ? body.value("params", json::object()) : json::object();
    const bool fails = params.value("name", "") == "fail";
    return result(
        R"({"resultType":"complete","content":[{"type":"text","text":"here: )" + request.header("Mcp-Param-Where") +
        R"("}],"isError":)" + (fails ? "true}" : "false}")
    );
}

core::agent mcp_agent(const std::string& id, const std::string& url)
{
    auto out = a2a_agent(id, url);
    out.speaks = core::protocol::mcp;
    out.mcp.emplace();
    return out;
}

constexpr auto answer_of_agent =
    R"({"jsonrpc":"2.0","id":1,"result":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"It rains\u001b[2J."}]}})";

}  // namespace

TEST_CASE("status shows the gateway, what needs attention, and the agents, the worst first")
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", "http://127.0.0.1:1/"));
    settings.agents.push_back(a2a_agent("z", "http://127.0.0.1:1/"));
    const running_gateway gateway{std::move(settings)};
    CHECK(cardea(gateway, {"agents", "refresh", "z"}).code == 1);
    const auto table = said(gateway, {"status", "-o", "table"});
    CHECK(table.starts_with("Cardea     "));
    CHECK(
        table.find("\nAgents     2: 0 healthy, 0 degraded, 1 unhealthy, 1 unknown; 0 bundles\n") != std::string::npos
    );
    CHECK(table.find("\nNeeds attention:\n  critical  z: ") != std::string::npos);
    CHECK(table.find("\nz   unhealthy  ") < table.find("\na   unknown  "));
    const auto all = parsed(said(gateway, {"status", "--sort", "id"}));
    CHECK(all["info"]["counts"]["agents"] == 2);
    CHECK(all["agents"][0]["id"] == "a");
    CHECK(all["agents"][0]["spark"].size() == 60);
    CHECK(said(gateway, {"agents", "health", "-o", "table"}).find("WHY\nz  ") != std::string::npos);
    CHECK(said(gateway, {"__agents"}) == "a\nz\n");
    CHECK(said(gateway, {"__agents", "z"}) == "z\n");
}

TEST_CASE("edges shows who calls whom, as a table or JSON")
{
    const scripted_agent agent{[](const auto&) { return test_support::answer_json(answer_of_agent); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url("/")));
    const running_gateway gateway{std::move(settings)};
    CHECK(said(gateway, {"edges", "-o", "table"}) == "No calls since the start.\n");
    for (int i = 0; i < 3; ++i) {
        flow::post_json(gateway.port(), "/agents/a", R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})");
    }
    CHECK(flow::becomes_true([&] { return parsed(said(gateway, {"edges"}))["edges"][0]["calls"] == 3; }));
    const auto table = said(gateway, {"edges", "--agent", "a", "--sort", "last", "--limit", "5", "-o", "table"});
    CHECK(table.starts_with("CALLER           PROVIDER  AGENT  CALLS  FAILED  REFUSED  LAST\n(no credential)"));
    CHECK(said(gateway, {"edges", "--principal", "nobody", "-o", "table"}) == "No calls since the start.\n");
    CHECK(cardea(gateway, {"edges", "--limit", "1001"}).code == 1);
}

TEST_CASE("A completion asks for a moment only, and is silent without an answer")
{
    const scripted_agent silent{{.accepts = test_support::on_accept::silence}};
    const auto nobody = "127.0.0.1:" + std::to_string(test_support::unused_port());
    for (const auto& admin : {"127.0.0.1:" + std::to_string(silent.port()), nobody}) {
        const auto begin = std::chrono::steady_clock::now();
        flow::child_process child{CARDEA_BIN, {"__agents"}, {{"CARDEA_ADMIN=" + admin}, {}}};
        const auto done = end_of(child);
        CHECK(done.out.empty());
        CHECK(done.err.empty());
        CHECK(std::chrono::steady_clock::now() - begin < 2s);
    }
}

TEST_CASE("wait ends when the agent has the status, and with 1 and why when it does not come to it")
{
    scripted_agent agent{[](const auto&) { return answer_json(flow::card_text("W", "http://10.0.0.1/")); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("w", agent.url("/")));
    settings.agents.push_back(a2a_agent("dead", "http://127.0.0.1:1/"));
    const running_gateway gateway{std::move(settings)};
    CHECK(said(gateway, {"agents", "wait", "w", "-o", "table"}) == "w: healthy\n");
    const auto late = cardea(gateway, {"agents", "wait", "dead", "--timeout", "600ms"});
    CHECK(late.code == 1);
    CHECK(late.err.starts_with("cardea: dead: unhealthy (upstream_refused): "));
    CHECK(parsed(said(gateway, {"agents", "wait", "dead", "--for", "unhealthy"}))["status"] == "unhealthy");
    CHECK(cardea(gateway, {"agents", "wait", "nobody"}).err == "cardea: nobody: No such agent. (agent_not_found)\n");
    CHECK(cardea(gateway, {"agents", "wait", "w", "--admin", "127.0.0.1:1", "--timeout", "300ms"}).code == 3);
}

TEST_CASE("A card is shown as it came, as callers get it, and as the difference; a history has its versions")
{
    scripted_agent agent{[](const auto&) { return answer_json(flow::card_text("W", "http://10.0.0.1/")); }};
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("w", agent.url("/")));
    const running_gateway gateway{std::move(settings)};
    said(gateway, {"agents", "wait", "w"});
    CHECK(parsed(said(gateway, {"agents", "card", "w", "--raw"}))["url"] == "http://10.0.0.1/");
    CHECK(
        parsed(said(gateway, {"agents", "card", "w", "--a2a-version", "0.3"}))["url"] == gateway.base() + "/agents/w"
    );
    CHECK_FALSE(parsed(said(gateway, {"agents", "card", "w", "--a2a-version", "1.0"})).contains("url"));
    const auto diff = said(gateway, {"agents", "card", "w", "--diff", "-o", "table"});
    CHECK(
        diff.find("replace /url (rewritten)\n  - \"http://10.0.0.1/\"\n  + \"" + gateway.base()) != std::string::npos
    );
    CHECK(parsed(said(gateway, {"agents", "card", "w", "--diff"}))[0].contains("why"));
    CHECK(parsed(said(gateway, {"agents", "history", "w"}))["cards"].size() == 1);
    CHECK(
        said(gateway, {"agents", "history", "w", "-o", "table"}).find(" bytes, the first one that is known\n") !=
        std::string::npos
    );
    const auto other = cardea(gateway, {"agents", "restart", "w"});
    CHECK(other.code == 1);
    CHECK(other.err.find("(invalid_params)") != std::string::npos);
}

TEST_CASE("A message goes to an agent as a try, and its answer's text or all of it is printed")
{
    scripted_agent agent{[](const auto& request) {
        return request.method == "GET" ? answer_json(flow::card_text("W", "http://10.0.0.1/"))
                                       : answer_json(answer_of_agent);
    }};
    const test_support::scratch_directory scratch;
    test_support::write_whole(scratch.file("d.json"), R"({"n": 1.50})");
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("w", agent.url("/")));
    settings.agents.push_back(a2a_agent("dead", "http://127.0.0.1:1/"));
    const running_gateway gateway{std::move(settings)};
    CHECK(
        said(gateway, {"call", "w", "Weather?", "--header", "X-Free: yes", "--header", "Authorization: Bearer c"}) ==
        "It rains\\u001b[2J.\n"
    );
    CHECK(agent.wait_for([](const auto& all) { return all.back().header("X-Free") == "yes"; }));
    CHECK(agent.requests().back().body.find("Weather?") != std::string::npos);
    const auto line =
        gateway.log().wait_for([](std::string_view each) { return each.find(R"("via":"console")") != each.npos; });
    CHECK(line.has_value());
    const auto whole =
        said(gateway, {"call", "w", "--json", scratch.file("d.json"), "-o", "json", "--a2a-version", "0.3"});
    CHECK(parsed(whole)["result"]["kind"] == "message");
    CHECK(agent.requests().back().body.find("1.50") != std::string::npos);
    const auto failed = cardea(gateway, {"call", "dead", "x"});
    CHECK(failed.code == 1);
    CHECK(failed.err == "cardea: dead: The agent could not be reached. (upstream_refused)\n");
    CHECK(cardea(gateway, {"call", "w"}).code == 2);
    CHECK(cardea(gateway, {"call", "w", "x", "--header", "bad"}).code == 2);
    CHECK(cardea(gateway, {"call", "w", "--json", "/no/such/file"}).code == 2);
    CHECK(cardea(gateway, {"call", "w", "--tool", "t", "--args", "[]"}).code == 2);
    CHECK(cardea(gateway, {"call", "nobody", "x"}).err == "cardea: nobody: No such agent. (agent_not_found)\n");
    CHECK(cardea(gateway, {"call", "w", "x", "--admin", "127.0.0.1:1"}).code == 3);
}

TEST_CASE("Each event of a stream is printed when it comes, and Ctrl-C ends the call at the agent")
{
    flow::relayed x{test_support::event_stream(), [](auto& settings) { settings.agents[0].bridge = false; }};
    auto child = begun(x.gateway, {"call", "a", "x", "--stream", "--a2a-version", "0.3", "-o", "json"});
    REQUIRE(x.agent.wait_for_streams(1));
    for (int i = 0; i < 3; ++i) {
        x.agent.send_event(R"({"jsonrpc":"2.0","id":1,"result":{"n":)" + std::to_string(i) + "}}");
        const auto due = std::chrono::steady_clock::now() + test_support::patience;
        while (child.out().find("\"n\":" + std::to_string(i)) == std::string::npos &&
               std::chrono::steady_clock::now() < due) {
            CHECK_FALSE(child.wait(20ms).has_value());
        }
    }
    CHECK(child.out().ends_with("\"result\":{\"n\":2}}\n"));
    child.signal(SIGINT);
    CHECK(end_of(child).code == 130);
    CHECK(x.agent.wait_until_peer_closed());
}

TEST_CASE("Tools of an MCP server are listed over all pages and called, with the fields that they want in the head")
{
    scripted_agent server{modern_server};
    auto settings = quick_settings();
    settings.agents.push_back(mcp_agent("m", server.url("/mcp")));
    const test_support::scratch_directory directory;
    settings.audit = "file:" + directory.file("audit.ndjson");
    const running_gateway gateway{std::move(settings)};
    said(gateway, {"agents", "wait", "m"});
    CHECK(
        said(gateway, {"call", "m"}) ==
        "TOOL  ARGUMENTS  DESCRIPTION\necho  where      Does it\nfail  where      Does it\n"
    );
    CHECK(parsed(said(gateway, {"call", "m", "-o", "json"}))["tools"].size() == 2);
    CHECK(said(gateway, {"call", "m", "--tool", "echo", "--args", R"({"where":"north"})"}) == "here: north\n");
    const auto failed = cardea(gateway, {"call", "m", "--tool", "fail"});
    CHECK(failed.code == 1);
    CHECK(failed.out == "here: \n");
    CHECK(failed.err == "cardea: m: the tool reports an error\n");
    CHECK(said(gateway, {"agents", "restart", "m", "-o", "table"}).starts_with("m: its session begins again; "));
    const std::string told = R"("event":"session_restarted","agent":"m","by":"admin 127.0.0.1")";
    CHECK(flow::becomes_true([&] {
        return test_support::read_whole(directory.file("audit.ndjson")).find(told) != std::string::npos;
    }));
    const auto raw = cardea(gateway, {"agents", "card", "m", "--raw"});
    CHECK(raw.err == "cardea: m: is an MCP server, which has no card of its own\n");
    CHECK(raw.code == 1);
}

TEST_CASE("The credential of the command is for admin, and that of --header for the agent, also over TLS")
{
    scripted_agent agent{flow::answer_of_agent};
    const test_support::scratch_directory scratch;
    test_support::write_whole(scratch.file("token"), "operator-token-0123456789\n");
    test_support::test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    auto settings = flow::guarded(agent.url("/rpc"));
    settings.admin_access = core::admin_access::scopes;
    settings.admin_tls = {{shown.cert_file, shown.key_file, {}}};
    const running_gateway gateway{std::move(settings)};
    const auto ask = [&](arguments given) {
        given.insert(given.end(), {"--admin", "https://" + admin_of(gateway), "--token-file", scratch.file("token")});
        given.insert(given.end(), {"--ca-file", ca.ca_file()});
        return cardea(gateway, std::move(given));
    };
    const auto anonymous = ask({"call", "seen", "x"});
    CHECK(anonymous.code == 1);
    CHECK(anonymous.err.find("(unauthenticated)") != std::string::npos);
    // It reaches the agent, whose answer here is none of A2A.
    CHECK(
        ask({"call", "seen", "x", "--header", "X-API-Key: key-of-ci"}).err.find("INVALID_AGENT_RESPONSE") !=
        std::string::npos
    );
    CHECK(agent.request_count() == 1);
    const auto mallory = ask({"call", "seen", "x", "--header", "Authorization: Bearer mallory-token-0123456789"});
    CHECK(mallory.err == "cardea: seen: This credential does not allow it. (forbidden)\n");
    CHECK(agent.request_count() == 1);
    CHECK(flow::becomes_true([&] { return ask({"events"}).out.find("\"request\"") != std::string::npos; }));
    for (const arguments& given : {arguments{"status"}, {"events"}, {"reload"}, {"call", "seen", "x"}}) {
        CAPTURE(given.front());
        auto strange = given;
        strange.insert(strange.end(), {"--admin", "https://" + admin_of(gateway)});
        CHECK(cardea(gateway, strange).code == 3);
        strange.insert(strange.end(), {"--ca-file", ca.ca_file()});
        const auto refused = cardea(gateway, strange);
        CHECK(refused.code == 1);
        CHECK(refused.err.find("(unauthenticated)") != std::string::npos);
    }
}

TEST_CASE("events prints what has come and ends, or follows until Ctrl-C")
{
    flow::relayed x{answer_json("{}")};
    CHECK(flow::call(x.port(), flow::call_body()).status == 200);
    CHECK(x.gateway.log().wait_for([](std::string_view line) { return line.find(R"("route":"call")") != line.npos; }));
    const auto lines =
        said(x.gateway, {"events", "--event", "request", "--agent", "a", "--route", "call", "--status", "2xx"});
    CHECK(parsed(lines)["rpc"] == "message/send");
    CHECK(said(x.gateway, {"events", "--last", "0"}).empty());
    const auto table = said(x.gateway, {"events", "--event", "request", "--last", "1", "-o", "table"});
    CHECK(table.find(" INFO  a  POST message/send 200 ") != std::string::npos);
    const auto wrong = cardea(x.gateway, {"events", "--status", "6xx"});
    CHECK(wrong.code == 1);
    CHECK(wrong.err.find("(invalid_params)") != std::string::npos);
    CHECK(cardea(x.gateway, {"events", "--admin", "127.0.0.1:1"}).code == 3);
    auto follower = begun(x.gateway, {"events", "--follow", "--last", "0", "--agent", "a", "--event", "request"});
    const auto due = std::chrono::steady_clock::now() + test_support::patience;
    while (follower.out().empty() && std::chrono::steady_clock::now() < due) {
        CHECK(flow::call(x.port(), flow::call_body()).status == 200);
        CHECK_FALSE(follower.wait(50ms).has_value());
    }
    CHECK(parsed(follower.out().substr(0, follower.out().find('\n')))["event"] == "request");
    follower.signal(SIGINT);
    CHECK(end_of(follower).code == 130);
}

TEST_CASE("A running gateway prints its configuration, and reads it again")
{
    const test_support::scratch_directory scratch;
    const auto file = scratch.file("c.yml");
    const std::string head =
        "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nstore: memory\nreload: {watch: false}\nagents:\n"
        "  a.b: {url: http://127.0.0.1:1/}\n";
    test_support::write_whole(file, head);
    flow::child_process gateway{CARDEA_BIN, {"run", "-c", file}};
    const auto line =
        gateway.wait_for_line([](std::string_view each) { return each.find("\"listening\"") != each.npos; });
    REQUIRE(line.has_value());
    const auto ask = [&](arguments given) {
        const auto admin = "127.0.0.1:" + std::to_string(flow::listening_port(*line, "admin"));
        flow::child_process child{CARDEA_BIN, std::move(given), {{"CARDEA_ADMIN=" + admin}, {}}};
        return end_of(child);
    };
    flow::child_process written{CARDEA_BIN, {"config", "dump", "-c", file}};
    CHECK(ask({"config", "dump", "--running"}).out == end_of(written).out);
    CHECK(
        parsed(ask({"config", "dump", "--running", "--output", "json"}).out)["agents"]["a.b"]["url"]["origin"] ==
        file + ":6"
    );
    test_support::write_whole(file, head + "  c: {url: http://127.0.0.1:1/}\n");
    CHECK(
        ask({"reload", "-o", "table"}).out ==
        "Reloaded; agents: 1 added, 0 changed, 0 removed, 1 unchanged.\n  added agent c\n"
    );
    test_support::write_whole(file, head + "  d: {}\n");
    const auto refused = ask({"reload"});
    CHECK(refused.code == 1);
    CHECK(refused.out.empty());
    CHECK(
        refused.err.find("(config_invalid)\ncardea: " + file + ":7:3: agents.d.url: is missing") != std::string::npos
    );
    gateway.signal(SIGTERM);
    CHECK(end_of(gateway).code == 0);
}

TEST_CASE("explain ends with 0 for a request that is let pass, 1 for one that is denied, and 2 for no answer")
{
    const flow::guarded_gateway x;
    const arguments of_ci{"--principal", "ci", "--provider", "keys"};
    const auto explain = [&](arguments given) {
        given.insert(given.begin(), "explain");
        given.insert(given.end(), of_ci.begin(), of_ci.end());
        return cardea(x.gateway, given);
    };
    const auto passes = explain({"--agent", "sends", "--method", "message/send"});
    CHECK(passes.code == 0);
    CHECK(parsed(passes.out)["allowed"] == true);
    const auto denied = explain({"--agent", "sends", "--method", "tasks/get", "-o", "table"});
    CHECK(denied.code == 1);
    CHECK(denied.out.find("call       deny     agents.sends.call ") != std::string::npos);
    CHECK(denied.out.find("  the method message/send\n") != std::string::npos);
    CHECK(denied.out.ends_with("denied: 403 forbidden\n"));
    const auto none = cardea(x.gateway, {"explain", "--agent", "sends", "--principal", "x", "--provider", "none"});
    CHECK(none.code == 2);
    CHECK(none.err.find("names no provider of access.providers") != std::string::npos);

    const test_support::scratch_directory directory;
    const auto file = directory.file("c.yml");
    test_support::write_whole(
        file,
        "access: {providers: [{name: ops, type: static_token, token: token-of-ops-0123, principal: op}]}\n"
        "agents: {a: {url: \"http://127.0.0.1:9/\", discover: authenticated, call: {scopes: x}}}\n"
    );
    const arguments by_file{"explain", "-c", file, "--agent", "a", "--provider", "ops", "--principal", "op"};
    CHECK(cardea(x.gateway, by_file).code == 1);
    auto with_scope = by_file;
    with_scope.insert(with_scope.end(), {"--scope", "x", "-o", "table"});
    const auto pass = cardea(x.gateway, with_scope);
    CHECK(pass.code == 0);
    CHECK(pass.out.find(file + ":2:73 agents.a.call\n") != std::string::npos);
    test_support::write_whole(directory.file("token"), "token-of-ops-0123\n");
    CHECK(
        cardea(x.gateway, {"explain", "-c", file, "--agent", "a", "--token-file", directory.file("token")}).code == 1
    );
    CHECK(cardea(x.gateway, {"explain", "-c", file, "--agent", "a", "--anonymous"}).code == 1);
    CHECK(cardea(x.gateway, {"explain", "-c", directory.file("no"), "--agent", "a", "--anonymous"}).code == 2);
    CHECK(cardea(x.gateway, {"explain", "--agent", "a", "--anonymous", "--admin", "127.0.0.1:1"}).code == 3);
}

TEST_SUITE_END();
