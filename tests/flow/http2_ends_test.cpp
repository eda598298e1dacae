// How connections of HTTP/2 end in order: at the gateway's end, by age, idle.
#include "tests/flow/http2_caller.hpp"
#include "tests/flow/lifecycle_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("flow/http2_ends");

namespace {

using namespace std::chrono_literals;
namespace raw = test_support::http2;
using flow::http2_call;
using flow::http2_caller;
using flow::relayed;
using test_support::answer_json;

constexpr std::uint64_t no_stream = 0x7fffffff;

}  // namespace

TEST_CASE("A drain announces the end at once and names the last stream a second later")
{
    test_support::gate held;
    relayed call{
        [&](const auto&) { return test_support::then({test_support::pass_gate{held.shared()}}, answer_json("{}")); },
        [](config::settings& settings) { settings.timeouts.drain = 10s; }
    };
    http2_caller caller{call.port()};
    caller.send(http2_call(1, flow::call_body()));
    REQUIRE(call.agent.wait_for_requests(1));
    const auto begun = std::chrono::steady_clock::now();
    call.gateway.stop();
    const auto is_goaway = [](const auto& each) { return each.type == raw::goaway; };
    REQUIRE(caller.until(is_goaway));
    CHECK(std::chrono::steady_clock::now() - begun < 500ms);
    CHECK(caller.goaway_stream() == no_stream);
    REQUIRE(caller.until(is_goaway));
    CHECK(std::chrono::steady_clock::now() - begun > 900ms);
    CHECK(caller.goaway_stream() == 1);
    held.release();
    CHECK(caller.answered(1));
    CHECK(caller.goaway() == 0);
    CHECK(call.gateway.wait_until_stopped());
}

TEST_CASE("A connection that is made during drain_delay is served before it hears of the end")
{
    relayed call{
        [](const auto&) { return answer_json("{}"); },
        [](config::settings& settings) { settings.timeouts.drain = settings.timeouts.drain_delay = 1h; }
    };
    REQUIRE(flow::begins_to_drain(call.gateway));
    CHECK(call.gateway.metric("cardea_ready") == 0);  // asks every worker: all of them know by now
    http2_caller caller{call.port()};
    caller.send(raw::frame(raw::ping, 0, 0, "12345678"));
    REQUIRE(caller.until([](const auto& each) { return each.type == raw::ping; }));
    CHECK(caller.goaway_stream() == 0);  // none has come
    caller.send(http2_call(1, flow::call_body()));
    REQUIRE(caller.until([](const auto& each) { return each.type == raw::goaway; }));
    CHECK(caller.goaway_stream() == no_stream);
    CHECK(caller.answered(1));
    CHECK(caller.field(1, ":status") == "200");
    call.gateway.stop();
    CHECK(call.gateway.wait_until_stopped(5s));
}

TEST_CASE("A connection that has grown old ends after its streams, and one without a stream when it is idle")
{
    SUBCASE("old")
    {
        relayed call{
            [](const auto&) { return answer_json("{}"); },
            [](config::settings& settings) { settings.timeouts.http2_age = 500ms; }
        };
        http2_caller caller{call.port()};
        caller.send(http2_call(1, flow::call_body()));
        CHECK(caller.answered(1));
        CHECK(caller.goaway() == 0);
    }
    SUBCASE("idle")
    {
        relayed call{
            [](const auto&) { return answer_json("{}"); },
            [](config::settings& settings) { settings.timeouts.idle = 300ms; }
        };
        http2_caller caller{call.port()};
        caller.send(http2_call(1, flow::call_body()));
        CHECK(caller.answered(1));
        CHECK(caller.goaway() == 0);
    }
}

TEST_CASE("A connection ends when the time of a head is up, whatever other streams it has")
{
    test_support::gate held;
    relayed call{
        [&](const auto&) { return test_support::then({test_support::pass_gate{held.shared()}}, answer_json("{}")); },
        [](config::settings& settings) { settings.timeouts.header = 200ms; }
    };
    constexpr int enhance_your_calm = 11;
    for (const bool whole_frame : {false, true}) {
        for (const bool calls : {false, true}) {
            CAPTURE(whole_frame);
            CAPTURE(calls);
            http2_caller caller{call.port()};
            if (calls) {
                caller.send(http2_call(1, flow::call_body()));
            }
            auto begun =
                raw::headers_frame(3, flow::http2_fields("GET", "/agents/a"), whole_frame ? 0 : raw::end_headers);
            begun.resize(begun.size() - (whole_frame ? 0 : 5));
            caller.send(begun);
            CHECK(caller.goaway() == enhance_your_calm);
        }
    }
    held.release();
}

TEST_SUITE_END();
