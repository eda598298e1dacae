// Callers' requests of the modern era over streamable HTTP, which have another id in their text than they are told by.
#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/offloading_transport.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

#include <boost/asio/post.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("mcp/transport/http_callers");

using namespace mcp_test;
using namespace std::chrono_literals;
using test_support::answer_json;
using test_support::scripted_agent;

namespace {

mcp::outgoing of_caller(std::uint64_t call, std::uint64_t text_id, std::string method = "tools/call")
{
    auto message = ask(text_id, std::move(method));
    message.id = call;
    message.text_id = text_id;
    message.of_caller = true;
    return message;
}

class callers_rig : public transport_rig {
public:
    using transport_rig::transport_rig;

    void begin_modern()
    {
        open();
        wire->settle(modern);
        REQUIRE(wait_for("connected"));
    }
};

}  // namespace

TEST_CASE("A caller's request is answered by the id in its text, and fails by its number")
{
    scripted_agent agent;
    agent.next(answer_json(result_of(1001)));
    agent.next(answer_json(result_of(2)));
    callers_rig x{agent.url("/mcp")};
    x.begin_modern();
    auto first = of_caller(1, 1001);
    first.name = "t";
    first.fields = {{"Mcp-Param-Region", "eu"}, {"X-Tenant", "a"}};
    REQUIRE(x.wire->send(std::move(first)).has_value());
    REQUIRE(x.wait_for("received " + result_of(1001)));
    REQUIRE(x.wire->send(of_caller(2, 1002)).has_value());
    REQUIRE(x.wait_for("failed 2 upstream_protocol"));
    CHECK(agent.request(0).header("Mcp-Name") == "t");
    CHECK(agent.request(0).header("Mcp-Param-Region") == "eu");
    CHECK(agent.request(0).header("X-Tenant") == "a");
}

TEST_CASE(
    "A caller's long answer is passed on unread, as JSON and as an event, and that nothing else comes is told behind it"
)
{
    const auto text = R"({"jsonrpc":"2.0","id":1001,"result":{"a":")" + std::string(mcp::read_at_once, 'x') + R"("}})";
    for (const bool as_event : {false, true}) {
        CAPTURE(as_event);
        scripted_agent agent;
        agent.next(as_event ? events(event(text, "e-1")) : answer_json(text));
        callers_rig x{agent.url("/mcp")};
        x.begin_modern();
        REQUIRE(x.wire->send(of_caller(1, 1001)).has_value());
        REQUIRE(x.wait_until([&] { return x.told.size() == 3; }));
        CHECK(x.told[1] == "received " + text);
        CHECK(x.told[2] == (as_event ? "failed 1 upstream_reset" : "failed 1 upstream_protocol"));
        CHECK(agent.request_count() == 1);
    }
}

TEST_CASE(
    "A caller's long answer ends its exchange soon, wherever its id stands, though the server leaves the stream open"
)
{
    const std::string long_text(mcp::read_at_once, 'x');
    const auto before = R"({"jsonrpc":"2.0","id":1001,"result":{"a":")" + long_text + R"("}})";
    const auto behind = R"({"jsonrpc":"2.0","result":{"a":")" + long_text + R"("},"id":1001})";
    const auto progress =
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"a":")" + long_text + R"("}})";
    for (const auto& text : {before, behind}) {
        scripted_agent agent{always(test_support::event_stream())};
        callers_rig x{agent.url("/mcp")};
        x.settings.linger = 20ms;
        x.open(mcp::reading_apart(
            http_factory(x.loop, x.client, x.settings),
            [&x](std::string read, auto done) {
                net::asio::post(x.loop.get_executor(), [read = std::move(read), done] {
                    done(mcp::read_apart(read, {}));
                });
            },
            8 * 1024 * 1024
        ));
        x.wire->settle(modern);
        REQUIRE(x.wait_for("connected"));
        REQUIRE(x.wire->send(of_caller(1, 1001)).has_value());
        REQUIRE(x.wait_until([&] { return agent.request_count() == 1; }));
        REQUIRE(agent.wait_for_streams(1));
        agent.send_event(progress);
        REQUIRE(x.wait_for("received " + progress));
        x.run_for(100ms);
        CHECK(agent.closed_by_peer() == 0);
        agent.send_event(text);
        REQUIRE(x.wait_for("received " + text));
        CHECK(x.wait_until([&] { return agent.closed_by_peer() == 1; }));
        CHECK(x.told.size() == 3);
    }
}

TEST_CASE("Other long answers are passed on unread in the same way")
{
    const auto text = R"({"jsonrpc":"2.0","id":7,"result":{"a":")" + std::string(mcp::read_at_once, 'x') + R"("}})";
    for (const bool as_event : {false, true}) {
        CAPTURE(as_event);
        scripted_agent agent;
        agent.next(as_event ? events(event(text, "e-1")) : answer_json(text));
        callers_rig x{agent.url("/mcp")};
        x.begin_modern();
        REQUIRE(x.wire->send(ask(7, "tools/list")).has_value());
        REQUIRE(x.wait_until([&] { return x.told.size() == 3; }));
        CHECK(x.told[1] == "received " + text);
        CHECK(x.told[2] == (as_event ? "failed 7 upstream_reset" : "failed 7 upstream_protocol"));
    }
}

TEST_CASE("A long text on a stream is passed on unread, whatever it is")
{
    scripted_agent agent{in_session([](const test_support::recorded_request&) { return test_support::event_stream(); })
    };
    transport_rig x{agent.url()};
    x.begin();
    x.wire->open_stream({});
    REQUIRE(x.wait_for("stream up"));
    REQUIRE(agent.wait_for_streams(1));
    const auto padded = [](std::size_t size) { return result_of(2) + std::string(size - result_of(2).size(), ' '); };
    agent.send_event(padded(mcp::read_at_once));
    agent.send_event(padded(mcp::read_at_once + 1));
    REQUIRE(x.wait_for("received " + padded(mcp::read_at_once + 1)));
    CHECK(x.told.size() == 2);
}

TEST_CASE("A piece of a caller's answer costs one turn of the loop, and starts no timer again")
{
    constexpr std::size_t pieces = 200;
    scripted_agent agent{always(test_support::event_stream())};
    callers_rig x{agent.url("/mcp")};
    x.begin_modern();
    REQUIRE(x.wire->send(of_caller(1, 1001)).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 1; }));
    REQUIRE(agent.wait_for_streams(1));
    x.turns = 0;
    for (std::size_t i = 0; i < pieces; ++i) {
        agent.send_stream(":\n");
        x.run_for(1ms);
    }
    CHECK(x.turns < 2 * pieces);
}

TEST_CASE("Callers' requests do not wait for one another")
{
    scripted_agent agent{always(test_support::silence())};
    callers_rig x{agent.url("/mcp")};
    x.begin_modern();
    for (std::uint64_t call = 1; call <= mcp::most_posts + 4; ++call) {
        REQUIRE(x.wire->send(of_caller(call, 1000 + call)).has_value());
    }
    CHECK(x.wait_until([&] { return agent.request_count() == mcp::most_posts + 4; }));
}

TEST_CASE("What callers say that is no request has a few places of its own, and neither calls nor pings wait for it")
{
    scripted_agent agent{always(test_support::silence())};
    callers_rig x{agent.url("/mcp")};
    x.open();
    REQUIRE(x.wait_for("connected"));
    const auto answer = [] {
        mcp::outgoing message{R"({"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"no"}})", 0, {}};
        message.of_caller = true;
        return message;
    };
    for (std::size_t i = 0; i < mcp::most_notes + mcp::most_waiting_posts; ++i) {
        REQUIRE(x.wire->send(answer()).has_value());
    }
    CHECK(core::name(x.wire->send(answer()).error().code) == "overloaded");
    REQUIRE(x.wire->send(ask(1, "ping")).has_value());
    REQUIRE(x.wire->send(of_caller(2, 1002)).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == mcp::most_notes + 2; }));
    x.run_for(20ms);
    CHECK(agent.request_count() == mcp::most_notes + 2);
}

TEST_CASE("What a server says of a caller's request that it refuses is not told, since it may be the caller's")
{
    for (const int status : {400, 401, 403, 500}) {
        CAPTURE(status);
        scripted_agent agent;
        agent.next(test_support::answer(
            static_cast<unsigned>(status),
            error_of(1001, -32602, "said"),
            {{"Content-Type", "application/json"}}
        ));
        callers_rig x{agent.url("/mcp")};
        x.begin_modern();
        REQUIRE(x.wire->send(of_caller(1, 1003)).has_value());
        REQUIRE(x.wait_until([&] { return x.told.size() == 2; }));
        CHECK(x.told[1].starts_with("failed 1 upstream_status"));
        CHECK(x.why_failed == "status " + std::to_string(status) + " to tools/call");
    }
}

TEST_CASE("A cancellation ends the request whose number it has, whatever its text says")
{
    scripted_agent agent{always(test_support::silence())};
    callers_rig x{agent.url("/mcp")};
    x.begin_modern();
    REQUIRE(x.wire->send(of_caller(7, 1007)).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 1; }));
    const auto cancel = [&x](std::uint64_t call) {
        auto message = note("notifications/cancelled");
        message.text =
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1007,"x":1,"x":2}})";
        message.cancels = call;
        return x.wire->send(std::move(message)).has_value();
    };
    REQUIRE(cancel(8));
    x.run_for(20ms);
    CHECK(agent.closed_by_peer() == 0);
    REQUIRE(cancel(7));
    CHECK(x.wait_until([&] { return agent.closed_by_peer() == 1; }));
    CHECK(agent.request_count() == 1);
}

TEST_CASE(
    "A call that tells of its progress takes longer than a server may be silent, and a subscription and a stream of "
    "events have no end"
)
{
    scripted_agent agent{always(test_support::event_stream())};
    callers_rig x{agent.url("/mcp")};
    x.settings.server.call_timeout = 400ms;
    x.begin_modern();
    REQUIRE(x.wire->send(of_caller(1, 1001)).has_value());
    REQUIRE(x.wire->send(of_caller(2, 1002, "subscriptions/listen")).has_value());
    REQUIRE(x.wire->send(of_caller(3, 1003, "events/stream")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 3; }));
    for (int i = 0; i < 6; ++i) {
        agent.send_event(notice);
        x.run_for(100ms);
    }
    CHECK_FALSE(x.has("failed 1 upstream_timeout"));
    CHECK(x.wait_for("failed 1 upstream_timeout"));
    CHECK_FALSE(x.has("failed 2 upstream_timeout"));
    CHECK_FALSE(x.has("failed 3 upstream_timeout"));
}

TEST_CASE("What is given up is told before the session ends, however the server answers that")
{
    for (const unsigned how : {202U, 404U, 500U, 0U}) {
        CAPTURE(how);
        scripted_agent agent{in_session([&](const test_support::recorded_request& asked) {
            if (asked.method == "DELETE") {
                return test_support::answer(200, "");
            }
            const bool cancels = asked.body.find("notifications/cancelled") != std::string::npos;
            return cancels && how != 0 ? test_support::answer(how, "") : test_support::silence();
        })};
        callers_rig x{agent.url("/mcp")};
        x.settings.end_session_timeout = 100ms;
        x.begin();
        REQUIRE(x.wire->send(of_caller(2, 2)).has_value());
        REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
        auto cancels = note("notifications/cancelled");
        cancels.of_caller = true;
        cancels.cancels = 2;
        REQUIRE(x.wire->send(std::move(cancels)).has_value());
        x.wire->close(true);
        REQUIRE(x.wait_for("closed"));
        CHECK(x.told == words{"closed"});
        const auto all = agent.requests();
        REQUIRE(all.size() >= 3);
        CHECK(all[2].body.find("notifications/cancelled") != std::string::npos);
        // At 404 the server has no session that could be ended.
        REQUIRE(all.size() == (how == 404 ? 3 : 4));
        CHECK((how == 404 || all[3].method == "DELETE"));
    }
}

TEST_SUITE_END();
