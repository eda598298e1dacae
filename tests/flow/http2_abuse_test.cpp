// Callers over HTTP/2 who make work at no cost of their own: closed within a second, beside others who notice nothing; and those who only
// seem to.
#include "tests/flow/http2_caller.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/http2_abuse");

namespace {

using namespace std::chrono_literals;
namespace raw = test_support::http2;
using flow::http2_call;
using flow::http2_caller;
using flow::relayed;
using test_support::answer_json;

constexpr int calm = 11;

}  // namespace

TEST_CASE("Each attack ends its connection within a second, is counted and is an event")
{
    relayed call{
        [](const auto&) { return answer_json("{}"); },
        [](config::settings& settings) {
            settings.limits.http2_resets = 10;
            settings.limits.http2_control = 5;
        }
    };
    const auto cancelled = [](std::size_t streams) {
        std::string out;
        for (std::size_t i = 0; i < streams; ++i) {
            const auto stream = static_cast<std::uint32_t>(2 * i + 1);
            out += raw::headers_frame(stream, flow::http2_fields("GET", "/agents/a")) + raw::reset_frame(stream);
        }
        return out;
    };
    const auto made_to_reset = [](std::size_t streams) {
        std::string out;
        for (std::size_t i = 0; i < streams; ++i) {
            const auto stream = static_cast<std::uint32_t>(2 * i + 1);
            out += raw::headers_frame(
                       stream,
                       flow::http2_fields("POST", "/agents/a", {{"content-length", "1"}}),
                       raw::end_headers
                   ) +
                   raw::frame(raw::data, raw::end_stream, stream, "xx");
        }
        return out;
    };
    struct row {
        std::string limit;
        std::string below;  // the same, but within the limit
        std::string frames;
    };
    const row rows[] = {
        {"resets", cancelled(100), cancelled(200)},
        {"resets", made_to_reset(100), made_to_reset(200)},
        {"pings", raw::repeated(raw::ping_frame(), 48), raw::repeated(raw::ping_frame(), 100)},
        {"control", raw::repeated(raw::settings_frame(), 49), raw::repeated(raw::settings_frame(), 100)},
        {"control", raw::repeated(raw::update_frame(0, 1), 55), raw::repeated(raw::update_frame(0, 1), 120)},
        {"control", raw::repeated(raw::frame(0x42, 0, 0), 49), raw::repeated(raw::frame(0x42, 0, 0), 100)},
        {"header_fields",
         raw::headers_frame(1, flow::http2_fields("GET", "/", raw::field_lines(200, {"x", ""}))),
         raw::headers_frame(1, flow::http2_fields("GET", "/", raw::field_lines(500, {"x", ""})))},
    };
    int ended = 0;
    int resets = 0;
    for (const auto& row : rows) {
        CAPTURE(row.limit);
        http2_caller below{call.port()};
        below.send(row.below + raw::frame(raw::ping, 0, 0, "lastping"));
        CHECK(below.until([](const auto& each) { return each.type == raw::ping && each.payload == "lastping"; }));
        CHECK(flow::once_within(1s, [&] {
            resets += row.limit == "resets" ? 1 : 0;
            ++ended;
            http2_caller attacker{call.port()};
            attacker.try_send(row.frames);
            CHECK(attacker.goaway() == calm);
        }));
        CHECK(call.gateway.log().wait_for([&](auto line) {
            return line.find("http2_abuse_detected") != line.npos &&
                   line.find("\"limit\":\"" + row.limit + "\"") != line.npos;
        }));
    }
    CHECK(call.gateway.wait_for_metric("cardea_http2_refused_total{limit=\"resets\"}", resets));
    CHECK(
        call.gateway.metric(R"(cardea_http2_goaways_total{side="caller",by="cardea",code="enhance_your_calm"})") ==
        ended
    );
}

TEST_CASE("Five hundred cancels a second over ten connections pass")
{
    relayed call{[](const auto&) { return test_support::silence(); }};
    std::vector<http2_caller> callers;
    callers.reserve(10);
    for (int i = 0; i < 10; ++i) {
        callers.emplace_back(call.port());
    }
    const auto begun = std::chrono::steady_clock::now();
    std::uint32_t stream = 1;
    for (int round = 0; round < 100; ++round, stream += 2) {
        for (auto& caller : callers) {
            caller.send(http2_call(stream, flow::call_body()));
            caller.send(raw::reset_frame(stream));
        }
        std::this_thread::sleep_until(begun + (round + 1) * 20ms);
    }
    for (auto& caller : callers) {
        caller.send(raw::frame(raw::ping, 0, 0, "lastping"));
        CHECK(caller.until([](const auto& each) { return each.type == raw::ping && each.payload == "lastping"; }));
    }
    CHECK(call.gateway.wait_for_metric("cardea_http2_streams{side=\"caller\"}", 0));
}

TEST_CASE("Streams that were reset keep their places until their work has ended")
{
    relayed call{
        [](const auto&) { return answer_json("{}"); },
        [](config::settings& settings) { settings.limits.http2_streams = 4; }
    };
    http2_caller caller{call.port()};
    for (std::uint32_t stream = 1; stream < 200; stream += 2) {
        caller.send(raw::headers_frame(stream, flow::http2_fields("POST", "/agents/a"), raw::end_headers));
        if (stream > 7) {
            REQUIRE(caller.was_reset(stream, 7));
        }
    }
    CHECK(call.gateway.metric("cardea_http2_streams{side=\"caller\"}") == 4);
    CHECK(call.gateway.metric("cardea_http2_refused_total{limit=\"streams\"}") == 96);
}

TEST_CASE("A head over a limit is 431, and its neighbours pass")
{
    relayed call{[](const auto&) { return answer_json("{}"); }};
    http2_caller caller{call.port()};
    caller.send(
        raw::headers_frame(1, flow::http2_fields("GET", "/agents/a", raw::field_lines(150, {"x", ""}))) +
        http2_call(3, flow::call_body())
    );
    REQUIRE(caller.answered(3));
    CHECK(caller.field(1, ":status") == "431");
    CHECK(caller.field(3, ":status") == "200");
}

TEST_CASE("A caller that takes no answers has its stream reset and its agent not read")
{
    relayed call{
        [](const auto&) { return answer_json(std::string(1'000'000, 'x')); },
        [](config::settings& settings) { settings.timeouts.write = 300ms; }
    };
    for (const std::uint32_t window : {0U, 1U}) {
        CAPTURE(window);
        http2_caller caller{call.port()};
        caller.send(raw::settings_frame({{4, window}}) + http2_call(1, flow::call_body()));
        CHECK(caller.was_reset(1, 8));
        CHECK(caller.body(1).size() == window);
    }
}

TEST_SUITE_END();
