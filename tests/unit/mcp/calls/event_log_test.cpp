#include "mcp/calls/event_log.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/event_log");

using namespace std::chrono_literals;

namespace {

constexpr core::steady_time now{1h};

// "2:b 3:c"; "gap" first if some are gone, "end" last if nothing follows; "none": unknown.
std::string
after(mcp::event_log& store, const mcp::event_position& last, core::steady_time at = now, std::string_view owner = "me")
{
    const auto rest = store.after(last, owner, at);
    if (!rest) {
        return "none";
    }
    std::string out{rest->gap ? "gap" : ""};
    for (const auto& each : rest->events) {
        out += (out.empty() ? "" : " ") + std::to_string(each.at.number) + ":" + *each.text;
    }
    return out + (rest->ended ? " end" : "");
}

mcp::event_position
keep(mcp::event_log& store, std::uint64_t stream, const std::string& text, core::steady_time at = now)
{
    const auto place = store.keep(stream, std::make_shared<const std::string>(text), at);
    REQUIRE(place.has_value());
    return *place;
}

bool refuses(mcp::event_log& store, std::uint64_t stream)
{
    return !store.keep(stream, std::make_shared<const std::string>("late"), now).has_value();
}

}  // namespace

TEST_CASE("what came after the last event comes again")
{
    mcp::event_log store{mcp::replay_limits{}};
    const auto stream = store.open("me");
    const auto one = keep(store, stream, "a");
    const auto two = keep(store, stream, "b");
    const auto three = keep(store, stream, "c");
    CHECK(after(store, one) == "2:b 3:c");
    CHECK(after(store, two) == "3:c");
    CHECK(after(store, three).empty());
    store.end(stream, now);
    CHECK(after(store, two) == "3:c end");
    CHECK(after(store, three) == " end");
}

TEST_CASE("a stream is its owner's, and places that are none are unknown")
{
    mcp::event_log store{mcp::replay_limits{}};
    const auto stream = store.open("me");
    const auto one = keep(store, stream, "a");
    const auto other = store.open("you");
    keep(store, other, "x");
    CHECK(after(store, one, now, "you") == "none");
    CHECK(after(store, one, now, "") == "none");
    CHECK(after(store, {stream, 2}) == "none");
    CHECK(after(store, {stream, ~0ULL}) == "none");
    CHECK(after(store, {stream + 1, 1}) == "none");
    CHECK(after(store, {other, 1}) == "none");
}

TEST_CASE("a stream keeps so many events, and then the first ones go")
{
    mcp::event_log store{{.events = 3}};
    const auto stream = store.open("me");
    const auto one = keep(store, stream, "a");
    keep(store, stream, "b");
    keep(store, stream, "c");
    CHECK(after(store, one) == "2:b 3:c");
    keep(store, stream, "d");
    CHECK(after(store, one) == "2:b 3:c 4:d");
    keep(store, stream, "e");
    CHECK(after(store, one) == "gap 3:c 4:d 5:e");
}

TEST_CASE("a stream keeps so many bytes, and an event that is longer leaves a gap")
{
    const std::size_t room = 2 * (mcp::kept_event_overhead + 10);
    mcp::event_log store{{.stream_bytes = room}};
    const auto stream = store.open("me");
    const auto one = keep(store, stream, std::string(10, 'a'));
    keep(store, stream, std::string(9, 'b'));
    CHECK(store.bytes() == room - 1);
    CHECK(after(store, one) == "2:bbbbbbbbb");
    const auto third = keep(store, stream, std::string(11, 'c'));
    CHECK(store.bytes() == room);
    CHECK(after(store, one) == "2:bbbbbbbbb 3:ccccccccccc");
    const auto fourth = keep(store, stream, std::string(room, 'd'));
    CHECK(store.bytes() == 0);
    CHECK(after(store, third) == "gap");
    CHECK(after(store, fourth).empty());
    keep(store, stream, "e");
    CHECK(after(store, third) == "gap 5:e");
    CHECK(after(store, fourth) == "5:e");
}

TEST_CASE("all streams together keep so many bytes, and the oldest events go")
{
    mcp::event_log store{{.bytes = 3 * (mcp::kept_event_overhead + 1)}};
    const auto first = store.open("me");
    const auto second = store.open("me");
    const auto one = keep(store, first, "a");
    const auto two = keep(store, second, "b");
    keep(store, first, "c");
    CHECK(after(store, one) == "2:c");
    keep(store, second, "d");
    keep(store, second, "e");
    CHECK(after(store, one) == "2:c");
    CHECK(after(store, two) == "2:d 3:e");
    store.end(first, now);
    CHECK(after(store, one) == "gap end");
    keep(store, second, "f");
    CHECK(after(store, two) == "gap 3:e 4:f");
    keep(store, second, "g");
    keep(store, second, "h");
    CHECK(after(store, one) == "none");
    CHECK(store.streams() == 1);
    CHECK(store.bytes() == 3 * (mcp::kept_event_overhead + 1));
}

TEST_CASE("events are kept for 5 minutes")
{
    mcp::event_log store{mcp::replay_limits{}};
    const auto stream = store.open("me");
    const auto one = keep(store, stream, "a");
    keep(store, stream, "b", now + 1min);
    CHECK(after(store, one, now + 5min - 1ns) == "2:b");
    CHECK(after(store, one, now + 5min) == "2:b");
    CHECK(after(store, one, now + 6min) == "gap");
    CHECK(store.streams() == 1);
    CHECK(store.bytes() == 0);
}

TEST_CASE("A stream begins before its first event, and what comes is behind that")
{
    mcp::event_log store{mcp::replay_limits{}};
    const auto stream = store.open("me");
    const auto begun = store.last(stream);
    CHECK(begun == mcp::event_position{stream, 0});
    CHECK(after(store, *begun).empty());
    keep(store, stream, "a");
    CHECK(after(store, *begun) == "1:a");
    CHECK(store.last(stream) == mcp::event_position{stream, 1});
    CHECK_FALSE(store.last(stream + 1).has_value());
}

TEST_CASE("A stream that has ended is known for as long as an event, even without one, and takes no more")
{
    mcp::event_log store{mcp::replay_limits{}};
    const auto stream = store.open("me");
    const auto begun = *store.last(stream);
    SUBCASE("without one") {}
    SUBCASE("with one")
    {
        keep(store, stream, "a");
    }
    const auto last = *store.last(stream);
    store.end(stream, now + 1min);
    store.end(stream, now + 2min);
    CHECK(refuses(store, stream));
    CHECK(after(store, begun, now + 1min).ends_with(" end"));
    CHECK(after(store, last, now + 6min - 1ns) == " end");
    CHECK(after(store, last, now + 6min) == "none");
    CHECK(store.streams() == 0);
    CHECK(store.bytes() == 0);
    CHECK(refuses(store, stream));
}

TEST_CASE("A session's streams are forgotten together, and nobody else's")
{
    mcp::event_log store{mcp::replay_limits{}};
    const auto one = keep(store, store.open("me"), "a");
    const auto two = store.open("me");
    const auto other = store.open("mean");
    keep(store, other, "b");
    store.end(one.stream, now);
    CHECK(store.forget("me").size() == 2);
    CHECK(store.streams() == 1);
    CHECK(store.bytes() == mcp::kept_event_overhead + 1);
    CHECK(after(store, one) == "none");
    CHECK(refuses(store, two));
    CHECK(after(store, {other, 0}, now, "mean") == "1:b");
    CHECK(store.forget("nobody").empty());
}

TEST_CASE("A store without room keeps nothing, and says so")
{
    mcp::event_log store{{.bytes = 0}};
    const auto stream = store.open("me");
    const auto one = keep(store, stream, "a");
    CHECK(store.bytes() == 0);
    CHECK(after(store, {stream, 0}) == "gap");
    CHECK(after(store, one).empty());
    store.end(stream, now);
    CHECK(after(store, one) == "none");
}

TEST_CASE("a place has one text, and no other text is one")
{
    for (const auto& place : std::vector<mcp::event_position>{{0, 0}, {0xABCDEF, 12}, {~0ULL, ~0ULL}}) {
        CHECK(mcp::event_position::read(place.to_text()) == place);
    }
    CHECK(mcp::event_position{0xABCDEF, 12}.to_text() == "abcdef-12");
    for (const std::string text :
         {"",
          "-",
          "--",
          "1",
          "1-",
          "-1",
          "1-2-",
          "1-2-3",
          "1-2 ",
          " 1-2",
          "1-2\n",
          "01-2",
          "AB-3",
          "0a-3",
          "a-03",
          "+1-2",
          "1--1",
          "10000000000000000-1",
          "1-18446744073709551616"}) {
        CAPTURE(text);
        CHECK(!mcp::event_position::read(text));
    }
}

TEST_CASE("streams have other numbers, even if the random source repeats itself")
{
    unsigned char next = 0;
    mcp::event_log store{mcp::replay_limits{}, [&next](std::span<unsigned char> bytes) {
                             std::ranges::fill(bytes, static_cast<unsigned char>(next++ / 2));
                         }};
    CHECK(store.open("a") != store.open("a"));
}

TEST_SUITE_END();
