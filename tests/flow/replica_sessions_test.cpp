// Sessions that live in the process of one replica, and whose requests reach another one.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/mcp_bundle_fixture.hpp"
#include "tests/flow/mcp_program_fixture.hpp"
#include "tests/flow/replicas_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/replica sessions");

using namespace flow;
using namespace flow::mcp_programs;
using flow::replicas::three_replicas;

TEST_CASE("A session with a program is served by every replica: calls, questions, streams and its end")
{
    three_replicas x;
    const auto session = x.begin(0);
    CHECK(x.post(1, session, call_of("one")).body == done_of("1"));
    CHECK(x.post(2, session, R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status == 202);
    auto listens = x.open(1, "GET", session);
    const auto head = listens.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    auto asking = x.open(2, "POST", session, call_of("ask", "2"));
    CHECK(asking.read_until("roots/list").find("\"id\":77") != std::string::npos);
    CHECK(x.post(1, session, R"({"jsonrpc":"2.0","id":77,"result":{"roots":[]}})").status == 202);
    CHECK(asking.read_until("\r\n0\r\n\r\n").find("asked") != std::string::npos);
    CHECK(x.post(2, session, call_of("tell", "3")).status == 200);
    CHECK(listens.read_until("list_changed").find("data:") != std::string::npos);
    CHECK(x.send(2, "DELETE", session).status == 200);
    CHECK(listens.read_until("\r\n0\r\n\r\n").find("list_changed") == std::string::npos);
    for (const auto at : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        check_error(x.post(at, session, call_of("one")), 404, -32001, "session_not_found");
    }
    CHECK(x[0].metric("cardea_forwarded_total{outcome=\"answered\"}").value_or(0) == 0);
    CHECK(x.forwarded(1, "answered", 4));
    CHECK(x.forwarded(2, "answered", 5));
    const auto line = x[1].log().wait_for([](auto text) { return text.find(R"("forwarded":"r0")") != text.npos; });
    CHECK(line.value_or("").find(R"("rpc":"tools/call")") != std::string::npos);
    CHECK(line.value_or("").find(R"("session":")") != std::string::npos);
}

TEST_CASE("A stream that was lost is resumed at another replica than it began at")
{
    three_replicas x;
    const auto session = x.begin(0);
    auto lost = x.open(1, "POST", session, call_of("wait"));
    const auto begun = ids_in(lost.read_until("data:\n\n")).at(0);
    lost.close();
    auto behind = session;
    behind.emplace_back("Last-Event-ID", begun);
    auto back = x.open(2, "GET", behind);
    CHECK(back.read_head().status == 200);
    x.touch("go");
    CHECK(without_ids(back.read_until("\r\n0\r\n\r\n")).find(done_of("1")) != std::string::npos);
}

TEST_CASE(
    "A replica that is gone, has no address or cannot be reached has lost its sessions: 404, and nothing is sent "
    "elsewhere"
)
{
    three_replicas x;
    const auto session = x.begin(0);
    x.list().reach(x.id(0), "");
    CHECK(program_gateway::becomes_true([&] { return x.post(1, session, call_of("one")).status == 404; }));
    check_error(x.post(1, session, call_of("one")), 404, -32001, "session_not_found");
    CHECK(x[1].metric("cardea_forwarded_total{outcome=\"no_url\"}").value_or(0) >= 2);
    x.list().reach(x.id(0), "http://127.0.0.1:1");
    CHECK(program_gateway::becomes_true([&] {
        check_error(x.post(1, session, call_of("one")), 404, -32001, "session_not_found");
        return x[1].metric("cardea_forwarded_total{outcome=\"unreachable\"}").value_or(0) > 0;
    }));
    x.stop(0);
    CHECK(program_gateway::becomes_true([&] {
        check_error(x.post(1, session, call_of("one")), 404, -32001, "session_not_found");
        return x[1].metric("cardea_forwarded_total{outcome=\"gone\"}").value_or(0) > 0;
    }));
    const auto anew = x.begin(1);
    CHECK(x.post(2, anew, call_of("one")).status == 200);
}

TEST_CASE("A request goes to one other replica at most, also if the list or its caller would have it otherwise")
{
    three_replicas x;
    const auto session = x.begin(0);
    auto marked = session;
    marked.emplace_back("Cardea-Forwarded", "1");
    check_error(x.post(1, marked, call_of("one")), 404, -32001, "session_not_found");
    CHECK(x.forwarded(1, "again", 1));
    CHECK(x.post(0, marked, call_of("one")).status == 200);
    x.list().reach(x.id(0), x[2].base());
    CHECK(program_gateway::becomes_true([&] { return x.post(1, session, call_of("one")).status == 404; }));
    CHECK(x[2].metric("cardea_forwarded_total{outcome=\"again\"}").value_or(0) == 1);
    CHECK(x[2].metric("cardea_forwarded_total{outcome=\"answered\"}").value_or(0) == 0);
    CHECK(x.got("tools/call").find("Cardea-Forwarded") == std::string::npos);
}

TEST_CASE("A replica that began again at the same address does not know the sessions of the process before it")
{
    three_replicas x;
    const auto session = x.begin(0);
    x.start(0);
    check_error(x.post(0, session, call_of("one")), 404, -32001, "session_not_found");
    check_error(x.post(1, session, call_of("one")), 404, -32001, "session_not_found");
}

TEST_CASE("A caller that leaves a forwarded call ends it where its program is")
{
    three_replicas x{[](config::settings& all) { all.mcp.replay_time = core::duration{0}; }};
    const auto session = x.begin(0);
    auto leaving = x.open(1, "POST", session, call_of("hang", "9"));
    CHECK(x.got("\"hang\"").find("hang") != std::string::npos);
    leaving.read_head();
    CHECK(x[0].wait_for_metric("cardea_requests_in_flight", 1));
    leaving.close();
    CHECK(x[0].wait_for_metric("cardea_requests_in_flight", 0));
    CHECK(x[1].wait_for_metric("cardea_requests_in_flight", 0));
    CHECK(x.post(1, session, call_of("one")).status == 200);
}

TEST_CASE("A call under way at a replica that stops abruptly fails, is not repeated, and the session is gone")
{
    three_replicas x;
    const auto session = x.begin(0);
    auto cut = x.open(1, "POST", session, call_of("hang", "9"));
    CHECK(x.got("\"hang\"").find("hang") != std::string::npos);
    x.stop(0);
    const auto failed = cut.read_response();
    CHECK(failed.header("Cardea-Error") == "upstream_reset");
    CHECK(failed.body.find("The replica of Cardea that has the session did not answer.") != std::string::npos);
    CHECK(failed.body.find("\"retryable\":false") != std::string::npos);
    CHECK(x.forwarded(1, "failed", 1));
    check_error(x.post(1, session, call_of("one")), 404, -32001, "session_not_found");
    const auto sent = x.got("\"hang\"");
    CHECK(sent.find("\"hang\"") == sent.rfind("\"hang\""));
}

TEST_CASE("What is under way to a replica that is silent fails once it does not live any more")
{
    three_replicas x;
    const auto session = x.begin(0);
    auto listens = x.open(1, "GET", session);
    CHECK(listens.read_head().status == 200);
    auto streams = x.open(1, "POST", session, call_of("hang", "8"));
    CHECK(streams.read_head().status == 200);
    auto whole = session;
    whole.emplace_back("Accept", "application/json");
    whole.emplace_back("Content-Type", "application/json");
    http_client waits{x[1].port()};
    waits.send(test_support::request_text("POST", "/agents/a/mcp", whole, call_of("hang", "9")));
    CHECK(x.got(R"("id":9)").find("hang") != std::string::npos);
    x.list().forget(x.id(0));
    const auto failed = waits.read_response();
    CHECK(failed.status == 200);
    CHECK(failed.header("Cardea-Error") == "upstream_timeout");
    CHECK(failed.body.find("\"retryable\":false") != std::string::npos);
    CHECK(
        streams.read_until("\r\n0\r\n\r\n").find("did not answer. The request may have been carried out.") !=
        std::string::npos
    );
    CHECK(listens.read_until_closed().find("\r\n0\r\n\r\n") == std::string::npos);
    check_error(x.post(1, session, call_of("one")), 404, -32001, "session_not_found");
    CHECK(x.forwarded(1, "failed", 3));
}

TEST_CASE("A call that waits for its client goes on where it waits, whichever replica its client comes back to")
{
    three_replicas x{[](config::settings& all) { all.agents[0].mcp->era = core::mcp_era::legacy; }};
    const field_list fields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "ask"}};
    const auto text = [](const std::string& more) {
        return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},)" + more +
               R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
               R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)"
               R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}})";
    };
    const auto ask = [&] {
        const auto body = x.post(0, fields, text("")).body;  // an event, if it took long
        const auto asked = json::parse(body.substr(std::min(body.find('{'), body.size())));
        REQUIRE(asked["result"]["resultType"] == "input_required");
        return R"("requestState":")" + asked["result"]["requestState"].get<std::string>() +
               R"(","inputResponses":{"input-1":{"roots":[]}},)";
    };
    const auto answered = x.post(1, fields, text(ask()));
    CHECK(answered.status == 200);
    CHECK(answered.body.find("asked") != std::string::npos);
    CHECK(x.forwarded(1, "answered", 1));
    const auto state = ask();
    CHECK(x.post(0, fields, text(state)).body.find("asked") != std::string::npos);  // still opens where it was sealed
    const auto late = ask();
    x.stop(0);
    CHECK(program_gateway::becomes_true([&] {
        return x.post(1, fields, text(late)).header("Cardea-Error") == "input_expired";
    }));
}

TEST_CASE("A session with a bundle is served by every replica, and ends with the one that has it")
{
    three_replicas x{[](config::settings& all) {
        all.agents[0].mcp->start = core::mcp_start::eager;
        all.mcp.bundles = {mcp_bundles::bundle_of({{"a"}})};
    }};
    const auto send = [&](std::size_t at, std::string_view method, const field_list& fields, std::string_view body) {
        http_client caller{x[at].port()};
        caller.send(mcp_bundles::bundle_gateway::text(method, fields, body));
        return caller.read_response();
    };
    const auto begun = send(0, "POST", {}, initialize_body);
    REQUIRE(begun.status == 200);
    const field_list session{
        {"Mcp-Session-Id", begun.header("Mcp-Session-Id")},
        {"MCP-Protocol-Version", "2025-11-25"}
    };
    CHECK(program_gateway::becomes_true([&] {
        return send(1, "POST", session, call_of("a__one")).body.find(R"("content":[])") != std::string::npos;
    }));
    CHECK(
        send(2, "POST", session, R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})").body.find("a__one") !=
        std::string::npos
    );
    CHECK(send(1, "DELETE", session, "").status == 200);
    check_error(send(2, "POST", session, call_of("a__one")), 404, -32001, "session_not_found");
    const auto line = x[2].log().wait_for([](auto each) {
        return each.find(R"("forwarded":"r0")") != each.npos && each.find(R"("bundle":"default")") != each.npos;
    });
    CHECK(line.has_value());
}

TEST_CASE("The other replica judges the caller itself: a session is its principal's alone on each of them")
{
    three_replicas x{[](config::settings& all) {
        all.access.providers = {
            token("alice", "token-of-alice-0123456789", {}),
            token("bob", "token-of-bob-0123456789", {})
        };
        all.agents[0].discover = everybody_known;
        all.agents[0].call = everybody_known;
    }};
    const auto alice = bearer("token-of-alice-0123456789");
    const auto session = x.begin(0, alice);
    CHECK(x.post(1, session, call_of("one")).status == 200);
    auto of_bob = session;
    of_bob[0].second = "Bearer token-of-bob-0123456789";
    auto of_nobody = session;
    of_nobody.erase(of_nobody.begin());
    for (const auto at : {std::size_t{0}, std::size_t{1}}) {
        check_error(x.post(at, of_bob, call_of("one")), 404, -32001, "session_not_found");
        CHECK(x.post(at, of_nobody, call_of("one")).status == 401);
    }
    CHECK(x.forwarded(1, "answered", 1));
    CHECK(x[0].metric(R"(cardea_access_total{provider="alice",outcome="accepted"})") == 2);
    CHECK(x[0].metric(R"(cardea_access_total{provider="bob",outcome="accepted"})") == 1);
}

TEST_CASE("What a replica refuses whoever has the session goes no further")
{
    three_replicas x{
        [](config::settings& all) {
            all.agents[0].mcp->max_message = 2'000;
            all.rate_limits.agent = {.rate = 1, .burst = 3};
        },
        2
    };
    const auto session = x.begin(0);
    CHECK(x.post(1, session, call_of(std::string(3'000, 'n'))).status == 413);
    CHECK(x.post(1, session, call_of("one")).status == 200);
    auto foreign = session;
    foreign.emplace_back("Host", "elsewhere.test");
    CHECK(x.post(1, foreign, call_of("one")).status == 421);
    CHECK(x.post(1, session, call_of("one")).status == 200);
    CHECK(x.post(1, session, call_of("one")).status == 429);
    CHECK(x.forwarded(1, "answered", 2));
}

TEST_SUITE_END();
