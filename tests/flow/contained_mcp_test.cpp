// Contained MCP servers, members of bundles and bridged agents; MCP clients of contained principals.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using flow::check_contained;
using flow::contain;
using flow::contained_rpc;
using flow::release;
using namespace flow::mcp_calls;

TEST_SUITE_BEGIN("flow/contained_mcp");

namespace {

constexpr std::string_view code = "agent_contained";

field_list in_session(const std::string& id)
{
    return with(usual_fields(), {{"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2025-06-18"}});
}

}  // namespace

TEST_CASE("a session over HTTP is refused with the ids of its requests, and goes on after the release")
{
    auto x = mcp_gateway();
    const auto session = in_session(begin(x));
    REQUIRE(send(x, "POST", session, call_of("1")).status == 200);
    const auto passed = passed_on(x).size();
    contain(x.gateway, "a");

    check_contained(send(x, "POST", session, call_of(R"("x")")), contained_rpc(R"("x")", code));
    check_contained(
        send(x, "POST", session, R"({"jsonrpc":"2.0","method":"notifications/initialized"})"),
        contained_rpc("null", code)
    );
    check_contained(send(x, "GET", with(session, {{"Accept", "text/event-stream"}})), contained_rpc("null", code));
    check_contained(send(x, "DELETE", session), contained_rpc("null", code));
    check_contained(post(x, initialize_body), contained_rpc("0", code));
    CHECK(passed_on(x).size() == passed);

    release(x.gateway, "a");
    CHECK(send(x, "POST", session, call_of("2")).status == 200);
    CHECK(send(x, "DELETE", session).status == 200);
}

TEST_CASE("what MCP clients have under way ends in their words")
{
    auto x = mcp_gateway();
    const auto session = in_session(begin(x));

    SUBCASE("a call that nobody answers")
    {
        x.agent.otherwise([](const auto&) { return test_support::silence(); });
        http_client caller{x.port()};
        auto fields = session;
        fields.emplace_back("Content-Type", "application/json");
        caller.send(request_text("POST", "/agents/a/mcp", fields, call_of("5")));
        REQUIRE(x.agent.wait_for([](const auto& all) { return all.back().body.find("\"id\":5") != std::string::npos; })
        );
        CHECK(contain(x.gateway, "a")["cut"]["calls"] == 1);
        check_contained(caller.read_response(), contained_rpc("5", code));
    }
    SUBCASE("a call that is answered with events")
    {
        x.agent.otherwise([](const auto&) { return test_support::event_stream(); });
        http_client caller{x.port()};
        auto fields = session;
        fields.emplace_back("Content-Type", "application/json");
        caller.send(request_text("POST", "/agents/a/mcp", fields, call_of("5")));
        REQUIRE(x.agent.wait_for_streams(1));
        x.agent.send_event(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}})"
        );
        caller.read_until("\"progress\":1}}\n\n");
        x.agent.send_stream("data: {\"jsonrpc\"");  // held until it is whole
        CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
        CHECK(
            caller.read_until("\r\n0\r\n\r\n").find("data: " + contained_rpc("5", code) + "\n\n") != std::string::npos
        );
        CHECK(x.agent.wait_until_peer_closed());
    }
    SUBCASE("the stream of what a server says unasked")
    {
        x.agent.otherwise([](const auto&) { return test_support::event_stream(); });
        http_client caller{x.port()};
        caller.send(request_text("GET", "/agents/a/mcp", session));
        REQUIRE(x.agent.wait_for_streams(1));
        x.agent.send_event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
        caller.read_until("list_changed\"}\n\n");
        CHECK(contain(x.gateway, "a")["cut"]["streams"] == 1);
        CHECK(caller.read_until("\r\n0\r\n\r\n").find(": contained\n\n") != std::string::npos);
        x.agent.otherwise(as_server);
        release(x.gateway, "a");
        caller.send(request_text("GET", "/agents/a/mcp", session));
        CHECK(caller.read_head().status != 403);
    }
}

TEST_SUITE_END();
