#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/http_transport.hpp"
#include "tests/support/hostile_addresses.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

#include <malloc.h>

#include <algorithm>

TEST_SUITE_BEGIN("mcp/transport/sse_transport");

using namespace mcp_test;
using namespace std::chrono_literals;
using test_support::answer;
using test_support::recorded_request;
using test_support::script;
using test_support::scripted_agent;

namespace {

// GET gets `stream`, all else `taken`.
test_support::handler server_of(script stream, script taken)
{
    return [stream = std::move(stream), taken = std::move(taken)](const recorded_request& asked) {
        return asked.method == "GET" ? stream : taken;
    };
}

struct connected_rig {
    explicit connected_rig(script taken, core::duration patience = 500ms)
        : connected_rig{server_of(test_support::event_stream(), std::move(taken)), patience}
    {
    }
    explicit connected_rig(test_support::handler server, core::duration patience = 500ms)
        : agent{std::move(server)},
          x{agent.url("/base/sse?key=1")}
    {
        x.settings.server.request_timeout = patience;
        x.settings.server.initialize_timeout = patience;
        x.settings.server.call_timeout = 2 * patience;
        x.open(true);
        REQUIRE(x.wait_until([&] { return agent.request_count() == 1; }));
        REQUIRE(agent.wait_for_streams(1));
        agent.send_stream("event: endpoint\ndata: /message?sessionId=1\n\n");
        REQUIRE(x.wait_for("connected"));
        x.told.clear();
    }

    scripted_agent agent;
    transport_rig x;
};

std::string outcome_of(script stream)
{
    scripted_agent agent{always(std::move(stream))};
    transport_rig x{agent.url("/sse")};
    x.settings.server.request_timeout = 1s;
    x.settings.server.max_message = 500;
    x.open(true);
    REQUIRE(x.wait_until([&] { return !x.told.empty(); }));
    x.run_for(10ms);
    REQUIRE(x.told.size() == 1);
    CHECK(x.wire->send(ask(1, "initialize")).has_error());
    return x.told.front();
}

}  // namespace

TEST_CASE("messages go to the endpoint that the first event names, and come on the stream")
{
    connected_rig it{answer(202, "Accepted")};
    auto& x = it.x;
    CHECK(it.agent.request(0).header("accept") == "text/event-stream");
    CHECK(it.agent.request(0).target == "/base/sse?key=1");
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(x.wait_until([&] { return it.agent.request_count() == 2; }));
    CHECK(it.agent.request(1).method == "POST");
    CHECK(it.agent.request(1).target == "/message?sessionId=1");
    CHECK(it.agent.request(1).header("content-type") == "application/json");
    CHECK(it.agent.request(1).body == ask(1, "initialize").text);
    it.agent.send_stream("event: message\ndata: " + result_of(1) + "\n\n: comment\n\nevent: ping\ndata: x\n\n");
    it.agent.send_event(notice);
    REQUIRE(x.wait_for("received " + notice));
    x.run_for(600ms);
    CHECK(x.told == words{"received " + result_of(1), "received " + notice});
}

TEST_CASE("every step at which connecting fails is told as the connection's loss, once")
{
    transport_rig x{"http://127.0.0.1:" + std::to_string(test_support::unused_port())};
    x.open(true);
    CHECK(x.wait_for("lost upstream_refused"));
    CHECK(outcome_of(answer(404, "")) == "lost upstream_status");
    CHECK(outcome_of(answer(200, "{}", {{"Content-Type", "application/json"}})) == "lost upstream_protocol");
    CHECK(outcome_of(test_support::reset()) == "lost upstream_reset");
    CHECK(outcome_of(test_support::silence()) == "lost upstream_timeout");
    CHECK(outcome_of(test_support::event_stream()) == "lost upstream_timeout");
    CHECK(outcome_of(events("")) == "lost upstream_reset");
    CHECK(outcome_of(events("event: endpoint\ndata: /mess")) == "lost upstream_reset");
    CHECK(outcome_of(events(event(notice))) == "lost upstream_protocol");
    CHECK(outcome_of(events("event: endpoint\ndata: http://127.0.0.1:1/m\n\n")) == "lost upstream_protocol");
    CHECK(outcome_of(events("event: endpoint\ndata: https://other/m\n\n")) == "lost upstream_protocol");
    CHECK(outcome_of(events("event: endpoint\ndata: //other/m\n\n")) == "lost upstream_protocol");
    CHECK(outcome_of(events("data: " + std::string(70000, 'x'))) == "lost message_too_large");
}

TEST_CASE("the endpoint of a server over SSE is no address but the server's own")
{
    for (const auto& hostile : test_support::hostile_addresses()) {
        const bool one_line = hostile.find('\n') == std::string::npos;
        if (one_line && hostile.size() < 1000) {
            CAPTURE(hostile);
            const auto outcome = outcome_of(events("event: endpoint\ndata: " + hostile + "\n\n"));
            // A few are paths of the server itself.
            CHECK((outcome == "lost upstream_protocol" || outcome == "lost upstream_reset"));
        }
    }
}

TEST_CASE("the end of the stream is the end of the connection, however it comes")
{
    for (const bool cut : {false, true}) {
        CAPTURE(cut);
        connected_rig it{test_support::silence()};
        REQUIRE(it.x.wire->send(ask(1, "initialize")).has_value());
        cut ? it.agent.cut_streams() : it.agent.end_streams();
        REQUIRE(it.x.wait_for("lost upstream_reset"));
        it.x.run_for(600ms);
        CHECK(it.x.told.size() == 1);
        it.x.wire->close(true);
        CHECK(it.x.wait_for("closed"));
    }
}

TEST_CASE("a message that is not taken has failed, also when nothing at all comes")
{
    struct row {
        script taken;
        const char* told;
    };
    for (const auto& [taken, told] : {
             row{test_support::silence(), "failed 1 upstream_timeout"},
             row{test_support::reset(), "failed 1 upstream_reset"},
             row{answer(400, ""), "failed 1 upstream_status legacy"},
             row{answer(503, ""), "failed 1 upstream_status"},
         }) {
        connected_rig it{taken};
        REQUIRE(it.x.wire->send(ask(1, "server/discover")).has_value());
        CHECK(it.x.wait_for(told));
        CHECK(it.x.told.size() == 1);
    }
}

TEST_CASE("What a server says where it has taken a message is not kept, and does not fail the message")
{
    SUBCASE("events without end")
    {
        constexpr std::size_t piece = 64 * 1024;
        constexpr std::size_t pieces = 128;
        connected_rig it{test_support::event_stream(), 1min};
        REQUIRE(it.x.wire->send(ask(1, "tools/list")).has_value());
        REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 2; }));
        REQUIRE(it.agent.wait_for_streams(2));
        const auto in_use = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
        const auto before = in_use();
        auto most = before;
        for (std::size_t i = 0; i < pieces; ++i) {
            it.agent.send_stream(": " + std::string(piece, 'x') + "\n\n");
            it.x.run_for(1ms);
            most = std::max(most, in_use());
        }
        CHECK(it.agent.closed_by_peer() == 0);
        CHECK(most - before < pieces * piece / 4);
    }
    SUBCASE("a body that is cut off")
    {
        auto cut = test_support::raw({"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nx"});
        cut.emplace_back(test_support::close_now{});
        connected_rig it{cut};
        REQUIRE(it.x.wire->send(ask(1, "tools/list")).has_value());
        REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 2; }));
        it.x.run_for(50ms);
        CHECK(it.x.told.empty());
        it.agent.send_event(result_of(1));
        CHECK(it.x.wait_for("received " + result_of(1)));
    }
}

TEST_CASE("What a server says without end where it refuses a message has the limit of any body")
{
    auto text = test_support::raw({"HTTP/1.1 400 Bad Request\r\nContent-Type: text/event-stream\r\n\r\n"});
    text.insert(text.end(), 9, test_support::bytes{std::string(1024 * 1024, 'x')});
    text.emplace_back(test_support::hold{});
    connected_rig it{text, 1min};
    REQUIRE(it.x.wire->send(ask(1, "tools/list")).has_value());
    CHECK(it.x.wait_for("failed 1 message_too_large"));
}

TEST_CASE("A message over SSE that is redirected within the origin goes there, and so do those that follow")
{
    connected_rig it{[](const recorded_request& asked) {
        return asked.method == "GET"                    ? test_support::event_stream()
               : asked.target == "/message?sessionId=1" ? answer(307, "", {{"Location", "/moved?sessionId=1"}})
                                                        : answer(202, "");
    }};
    REQUIRE(it.x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 3; }));
    CHECK(it.agent.request(2).method == "POST");
    CHECK(it.agent.request(2).target == "/moved?sessionId=1");
    CHECK(it.agent.request(2).body == ask(1, "initialize").text);
    REQUIRE(it.x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 4; }));
    CHECK(it.agent.request(3).target == "/moved?sessionId=1");
    CHECK(it.x.told.empty());
}

TEST_CASE("A message over SSE is redirected three times at most, and never to another origin")
{
    connected_rig circle{answer(308, "", {{"Location", "/message"}})};
    REQUIRE(circle.x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(circle.x.wait_for("failed 1 upstream_status"));
    CHECK(circle.agent.request_count() == 5);
    scripted_agent other;
    connected_rig elsewhere{answer(307, "", {{"Location", other.url("/message")}})};
    REQUIRE(elsewhere.x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(elsewhere.x.wait_for("failed 1 upstream_status"));
    CHECK(elsewhere.x.why_failed.find("(followed only within the origin, and three times)") != std::string::npos);
    CHECK(elsewhere.agent.request_count() == 2);
    CHECK(other.request_count() == 0);
}

TEST_CASE("a notification that is refused is told as what did not arrive over SSE")
{
    connected_rig it{answer(500, "")};
    REQUIRE(it.x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(it.x.wait_for("failed 0 upstream_status"));
    CHECK(it.x.why_failed == "status 500 to notifications/initialized");
    CHECK(it.x.told.size() == 1);
}

TEST_CASE("a server that has taken a message and never ends its answer keeps no others from being sent")
{
    test_support::gate drip;
    std::vector<std::string> pieces(20'000, "x");
    pieces.insert(pieces.begin(), "HTTP/1.1 202 Accepted\r\nContent-Length: 20000\r\n\r\n");
    connected_rig it{test_support::raw(pieces, drip)};
    constexpr std::size_t posts = 20;  // more than go at once
    for (std::size_t id = 1; id <= posts; ++id) {
        REQUIRE(it.x.wire->send(ask(id, "tools/list")).has_value());
    }
    CHECK(it.x.wait_until([&] {
        drip.release(posts);
        return it.agent.request_count() == 1 + posts;
    }));
}

TEST_CASE("a request that is answered has not failed, whatever becomes of its own exchange")
{
    connected_rig it{test_support::silence()};
    REQUIRE(it.x.wire->send(ask(1, "initialize")).has_value());
    REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 2; }));
    it.agent.send_event(result_of(1));
    REQUIRE(it.x.wait_for("received " + result_of(1)));
    it.x.run_for(600ms);
    CHECK(it.x.told.size() == 1);
}

TEST_CASE("A long text over SSE is passed on unread: what it answers is answered when whoever has read it says so")
{
    const auto text = result_of(1) + std::string(mcp::read_at_once, ' ');
    for (const bool says_so : {true, false}) {
        CAPTURE(says_so);
        connected_rig it{test_support::silence()};
        REQUIRE(it.x.wire->send(ask(1, "initialize")).has_value());
        REQUIRE(it.x.wait_until([&] { return it.agent.request_count() == 2; }));
        it.agent.send_event(text);
        REQUIRE(it.x.wait_for("received " + text));
        if (says_so) {
            it.x.wire->answered_offloaded(1);
        }
        it.x.run_for(600ms);
        CHECK(it.x.has("failed 1 upstream_timeout") != says_so);
    }
}

TEST_CASE("A caller's request over SSE waits for timeouts.call, and no answer is matched with its number")
{
    connected_rig it{test_support::silence()};
    auto& x = it.x;
    x.told.clear();
    auto call = ask(1, "tools/call");
    call.of_caller = true;
    REQUIRE(x.wire->send(call).has_value());
    REQUIRE(x.wire->send(ask(2, "tools/call")).has_value());
    it.agent.send_event(result_of(1));
    REQUIRE(x.wait_for("received " + result_of(1)));
    REQUIRE(x.wait_for("failed 2 upstream_timeout"));
    CHECK_FALSE(x.has("failed 1 upstream_timeout"));
    REQUIRE(x.wait_for("failed 1 upstream_timeout"));
    CHECK(x.told.back() == "failed 1 upstream_timeout");
}

TEST_CASE("after close() nothing is told but that, and what is told may destroy the transport")
{
    connected_rig it{answer(202, "")};
    SUBCASE("close")
    {
        it.agent.send_event(notice);
        it.x.wire->close(true);
        REQUIRE(it.x.wait_for("closed"));
        it.x.run_for(20ms);
        CHECK(it.x.told == words{"closed"});
        CHECK(it.agent.request_count() == 1);
    }
    SUBCASE("a message")
    {
        it.x.on_word = [&](const std::string&) { it.x.wire.reset(); };
        it.agent.send_stream("data: " + notice + "\n\ndata: " + notice + "\n\n");
        REQUIRE(it.x.wait_for("received " + notice));
        it.x.run_for(20ms);
        CHECK(it.x.told.size() == 1);
    }
    SUBCASE("the end")
    {
        it.x.on_word = [&](const std::string&) { it.x.wire.reset(); };
        it.agent.end_streams();
        REQUIRE(it.x.wait_for("lost upstream_reset"));
        CHECK(it.x.wire == nullptr);
    }
}

TEST_SUITE_END();
