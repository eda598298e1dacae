// Callers that wait while their session with an MCP server begins again.
#include "tests/flow/mcp_session_server.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("flow/mcp_recovery");

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;

namespace {

// A session that the server has lost, and a server that takes its time to begin another one.
struct lost_rig : session_rig {
    explicit lost_rig(const relayed::adjustment& adjust = {})
        : session_rig{adjust}
    {
        begin_session();
        server->forget();
        server->opening = opening;
    }
    ~lost_rig() { opening.release(2); }

    // A caller whose call has found the session lost.
    http_client sent_call()
    {
        http_client caller{x->port()};
        const auto fields = with(with(usual_fields(), session), {{"Content-Type", "application/json"}});
        caller.send(request_text("POST", "/agents/a/mcp", fields, call_of("1")));
        REQUIRE(opening.wait_until_reached());
        return caller;
    }

    gate opening;
};

}  // namespace

TEST_CASE("A caller that leaves while its session begins again is let go, and the session is there for the next one")
{
    lost_rig r;
    auto caller = r.sent_call();
    CHECK(r.x->gateway.wait_for_metric("cardea_connections_open", 1));
    caller.close();
    CHECK(r.x->gateway.wait_for_metric("cardea_connections_open", 0));
    r.opening.release();
    CHECK(json::parse(r.call("2").body)["result"]["of"] == "s-2");
}

TEST_CASE("A caller of a silent tool gets comments while its session begins again, and then the answer as an event")
{
    lost_rig r{[](config::settings& settings) {
        settings.agents[0].mcp->silent_call = 50ms;
        settings.timeouts.stream_keep_alive = 50ms;
    }};
    auto caller = r.sent_call();
    const auto head = caller.read_head();
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/event-stream");
    CHECK(caller.read_until("\n\n").find("data") == std::string::npos);
    CHECK(caller.read_until("\n\n").find("data") == std::string::npos);
    r.opening.release();
    CHECK(caller.read_until("0\r\n\r\n").find(R"("result":{"of":"s-2"})") != std::string::npos);
}

TEST_CASE("A session that its client ends while it begins again is over, for the call that waits and at the server")
{
    lost_rig r;
    auto caller = r.sent_call();
    CHECK(r.end().status == 200);
    r.opening.release();
    check_error(caller.read_response(), 404, -32001, "session_not_found");
    CHECK(r.x->agent.wait_for([](const auto& all) {
        return all.back().method == "DELETE" && all.back().header("Mcp-Session-Id") == "s-2";
    }));
}

TEST_CASE("A call waits for its session no longer than for an answer, and the server is not told to give it up")
{
    core::duration core::mcp_server::* limit = nullptr;
    SUBCASE("in silence")
    {
        limit = &core::mcp_server::call_timeout;
    }
    SUBCASE("in all")
    {
        limit = &core::mcp_server::longest_call;
    }
    lost_rig r{[limit](config::settings& settings) { (*settings.agents[0].mcp).*limit = 200ms; }};
    auto caller = r.sent_call();
    check_error(caller.read_response(), 200, -32603, "upstream_timeout");
    r.opening.release();
    CHECK(r.x->agent.wait_for([](const auto& all) {
        return all.back().body.find("notifications/initialized") != std::string::npos;
    }));
    CHECK(r.methods_from(1) == names{"tools/call", "initialize", "notifications/initialized"});
}

TEST_SUITE_END();
