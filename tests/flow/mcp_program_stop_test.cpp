// What becomes of the streams of clients with sessions in this process when the gateway stops.
#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <list>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_program_stop");

namespace {

using namespace flow;
using namespace flow::mcp_programs;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

void give_calls_their_time(config::settings& settings)
{
    settings.timeouts.drain = 30s;
    settings.timeouts.drain_streams = 30s;
    settings.timeouts.drain_idle = 200ms;
}

http_client subscribed(const program_gateway& x)
{
    http_client caller{x.port()};
    caller.send(program_gateway::text(
        "POST",
        {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "subscriptions/listen"}},
        R"({"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":)"
        R"({"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)"
        R"("io.modelcontextprotocol/clientCapabilities":{}}}})"
    ));
    return caller;
}

}  // namespace

TEST_CASE("A stop with 100 clients of programs that listen takes no longer than drain_idle and a second")
{
    program_gateway x{give_calls_their_time};
    std::list<http_client> legacy;
    std::list<http_client> modern;
    const auto session = x.begin();
    for (int i = 0; i < 50; ++i) {
        legacy.emplace_back(x.port());
        // A second GET takes the place of the first.
        legacy.back().send(program_gateway::text("GET", i < 4 ? x.begin() : session));
        legacy.back().read_head();
        modern.push_back(subscribed(x));
        modern.back().read_until("subscriptions/acknowledged");
    }
    const auto begun = steady::now();
    x.gateway().stop();
    for (auto& each : modern) {
        const auto rest = each.read_until("0\r\n\r\n");
        CHECK(rest.find(R"("id":"l","result":{"resultType":"complete",)") != std::string::npos);
    }
    for (auto& each : legacy) {
        CHECK(each.read_until("0\r\n\r\n").find("\"error\"") == std::string::npos);
    }
    CHECK(x.gateway().wait_until_stopped(20s));
    CHECK(steady::now() - begun < (test_support::over_http2() ? 2200ms : 1200ms));  // the final GOAWAY comes after 1 s
}

TEST_CASE(
    "A listener that has come back with Last-Event-ID ends with the gateway, and a call that it has resumed goes on"
)
{
    program_gateway x{give_calls_their_time};
    const auto session = x.begin();
    http_client first{x.port()};
    first.send(program_gateway::text("GET", session));
    const auto unasked = ids_in(first.read_until("data:\n\n"));
    REQUIRE_FALSE(unasked.empty());
    http_client call{x.port()};
    call.send(program_gateway::text("POST", session, call_of("wait")));
    const auto called = ids_in(call.read_until("data:\n\n"));
    REQUIRE_FALSE(called.empty());
    const auto resume = [&](http_client& on, const std::string& id) {
        auto fields = session;
        fields.emplace_back("Last-Event-ID", id);
        on.send(program_gateway::text("GET", fields));
        on.read_head();
    };
    http_client listener{x.port()};
    resume(listener, unasked.back());
    http_client again{x.port()};
    resume(again, called.back());
    x.gateway().stop();
    listener.read_until("0\r\n\r\n");  // which the other one outlives
    CHECK_FALSE(again.closed_by_peer(300ms));
    x.touch("go");
    CHECK(again.read_until("0\r\n\r\n").find(done_of("1")) != std::string::npos);
    CHECK(x.gateway().wait_until_stopped(20s));
}

TEST_CASE("What a program has said unasked is out before the stream of its listener ends")
{
    program_gateway x{give_calls_their_time};
    const auto session = x.begin();
    http_client listener{x.port()};
    listener.send(program_gateway::text("GET", session));
    listener.read_head();
    for (int i = 0; i < 20; ++i) {
        CHECK(x.post(call_of("tell", std::to_string(i)), session).status == 200);
    }
    x.gateway().stop();
    const auto rest = listener.read_until("0\r\n\r\n");
    std::size_t told = 0;
    for (auto at = rest.find("list_changed"); at != std::string::npos; at = rest.find("list_changed", at + 1)) {
        ++told;
    }
    CHECK(told >= 19);  // the last one may come behind the answer to its call, and so behind the end
    CHECK(x.gateway().wait_until_stopped(20s));
}

TEST_SUITE_END();
