// What becomes of the streams of MCP clients when the gateway stops.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <list>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_stop");

namespace {

using namespace flow;
using namespace flow::mcp_calls;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr std::string_view subscription =
    R"({"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},)"
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

void give_calls_their_time(config::settings& settings)
{
    settings.timeouts.drain = 30s;
    settings.timeouts.drain_streams = 30s;
    settings.timeouts.drain_idle = 200ms;
}

// `bound`: callers are known, and what the server hands out is theirs, so that its streams are edited.
relayed::adjustment stopping(bool bound, const relayed::adjustment& further = {})
{
    return [bound, further](config::settings& settings) {
        make_mcp(settings);
        give_calls_their_time(settings);
        if (bound) {
            settings.access.providers = {token("operator", "operator-token-0123456789", {core::scope_read})};
            settings.agents[0].discover = anyone;
            settings.agents[0].call = anyone;
            settings.agents[0].mcp->bind = true;
        }
        if (further) {
            further(settings);
        }
    };
}

// A server of both eras, whose streams stay open.
script streaming(const recorded_request& request)
{
    const bool listens = request.method == "GET" || request.body.find("subscriptions/listen") != std::string::npos;
    const bool of_client = !request.header("Traceparent").empty();
    return of_client && listens ? event_stream() : as_server(request);
}

http_client listening(const relayed& x, std::string_view session, std::string_view last = {})
{
    http_client caller{x.port()};
    auto fields = with(usual_fields(), {{"Mcp-Session-Id", std::string{session}}});
    if (!last.empty()) {
        fields.emplace_back("Last-Event-ID", last);
    }
    caller.send(request_text("GET", "/agents/a/mcp", fields));
    return caller;
}

http_client subscribed(const relayed& x)
{
    http_client caller{x.port()};
    const field_list fields{
        {"MCP-Protocol-Version", "2026-07-28"},
        {"Mcp-Method", "subscriptions/listen"},
        {"Content-Type", "application/json"}
    };
    caller.send(request_text("POST", "/agents/a/mcp", with(usual_fields(), fields), subscription));
    return caller;
}

// How long the gateway takes to end.
steady::duration time_to_stop(running_gateway& gateway)
{
    const auto begun = steady::now();
    gateway.stop();
    CHECK(gateway.wait_until_stopped(20s));
    return steady::now() - begun;
}

// All workers know of it then.
void begin_to_stop(running_gateway& gateway)
{
    gateway.stop();
    REQUIRE(gateway.log().wait_for([](auto line) { return line.find(R"("event":"draining")") != std::string::npos; }));
    CHECK(gateway.metric("cardea_ready") == 0);
}

// drain_idle and a second; the final GOAWAY comes after another.
const auto most = test_support::over_http2() ? 2200ms : 1200ms;

}  // namespace

TEST_CASE(
    "A stop with 100 clients that listen takes no longer than drain_idle and a second, and their streams are whole"
)
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{streaming, stopping(bound)};
        const auto session = begin(x);
        std::list<http_client> legacy;
        std::list<http_client> modern;
        for (int i = 0; i < 50; ++i) {
            legacy.push_back(listening(x, session, i % 2 == 0 ? "" : "e-1"));
            modern.push_back(subscribed(x));
        }
        REQUIRE(x.agent.wait_for_streams(100));
        x.agent.send_event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
        for (auto* const all : {&legacy, &modern}) {
            for (auto& each : *all) {
                each.read_until("list_changed\"}\n\n");
            }
        }
        const auto begun = steady::now();
        x.gateway.stop();
        for (auto& each : legacy) {
            REQUIRE(each.read_until("0\r\n\r\n").find("\"error\"") == std::string::npos);
        }
        for (auto& each : modern) {
            const auto rest = each.read_until("0\r\n\r\n");
            REQUIRE(rest.find(R"("id":"l","result":{"resultType":"complete",)") != std::string::npos);
        }
        CHECK(x.gateway.wait_until_stopped(20s));
        CHECK(steady::now() - begun < most);
    }
}

TEST_CASE("A client whose server has not begun its stream yet gets one that is over at the gateway's end")
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{
            [](const recorded_request& request) {
                return request.method == "GET" && !request.header("Traceparent").empty() ? silence()
                                                                                         : as_server(request);
            },
            stopping(bound)
        };
        auto caller = listening(x, begin(x));
        REQUIRE(x.agent.wait_for([](const auto& all) { return !all.empty() && all.back().method == "GET"; }));
        const auto begun = steady::now();
        x.gateway.stop();
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.header("Content-Type") == "text/event-stream");
        CHECK(got.body.empty());
        CHECK(x.gateway.wait_until_stopped(20s));
        CHECK(steady::now() - begun < most);
    }
}

TEST_CASE("An event that is under way when the gateway ends is whole before the stream ends")
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{streaming, stopping(bound)};
        auto caller = listening(x, begin(x));
        REQUIRE(x.agent.wait_for_streams(1));
        x.agent.send_stream("id: 1\ndata: {}\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",");
        caller.read_until("data: {}\n\n");
        begin_to_stop(x.gateway);
        CHECK_FALSE(caller.closed_by_peer(300ms));
        x.agent.send_stream("\"method\":\"notifications/tools/list_changed\"}\n\n");
        const auto rest = caller.read_until("0\r\n\r\n");
        CHECK(rest.find("list_changed\"}\n\n") != std::string::npos);
        CHECK(x.gateway.wait_until_stopped(20s));
    }
}

TEST_CASE("The stream of a call goes on at the gateway's end, until its answer is there")
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{
            [](const recorded_request& request) {
                return request.body.find("tools/call") == std::string::npos ? as_server(request) : event_stream();
            },
            stopping(bound)
        };
        const auto session = begin(x);
        http_client caller{x.port()};
        const field_list fields{{"Mcp-Session-Id", session}, {"Content-Type", "application/json"}};
        caller.send(request_text("POST", "/agents/a/mcp", with(usual_fields(), fields), call_of("1")));
        REQUIRE(x.agent.wait_for_streams(1));
        begin_to_stop(x.gateway);
        CHECK_FALSE(caller.closed_by_peer(500ms));
        x.agent.send_event(R"({"jsonrpc":"2.0","id":1,"result":{}})");
        x.agent.end_streams();
        CHECK(caller.read_until("0\r\n\r\n").find(R"("id":1,"result":{})") != std::string::npos);
        CHECK(x.gateway.wait_until_stopped(20s));
    }
}

TEST_CASE("A client that asks once more on its connection while the gateway ends gets a stream that is over")
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{streaming, stopping(bound, [](config::settings& settings) { settings.timeouts.drain_idle = 5s; })};
        const auto session = begin(x);
        auto caller = listening(x, session);
        REQUIRE(x.agent.wait_for_streams(1));
        caller.read_until("\r\n\r\n");  // a head that is written later says `Connection: close`
        const auto asked = x.agent.request_count();
        x.gateway.stop();
        caller.read_until("0\r\n\r\n");
        caller.send(request_text("GET", "/agents/a/mcp", with(usual_fields(), {{"Mcp-Session-Id", session}})));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.header("Connection") == "close");
        CHECK(got.body.empty());
        CHECK(x.agent.request_count() == asked);
        CHECK(x.gateway.wait_until_stopped(20s));
    }
}

TEST_CASE("Streams that listen go on for as long as connections are accepted")
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{streaming, stopping(bound, [](config::settings& settings) {
                      settings.timeouts.drain_delay = 500ms;
                  })};
        auto caller = listening(x, begin(x));
        REQUIRE(x.agent.wait_for_streams(1));
        const auto begun = steady::now();
        x.gateway.stop();
        caller.read_until("0\r\n\r\n");
        CHECK(steady::now() - begun >= 490ms);
        CHECK(x.gateway.wait_until_stopped(20s));
    }
}

TEST_CASE("A gateway without clients stops at once")
{
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        relayed x{streaming, stopping(bound)};
        begin(x);
        CHECK(time_to_stop(x.gateway) < most);
    }
}

TEST_SUITE_END();
