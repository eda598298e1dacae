#include "mcp/calls/replay_store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/replay_store");

using namespace std::chrono_literals;

namespace {

constexpr core::steady_time now{1h};

// "2:b 3:c"; "gap" first if some are gone, "end" last if nothing follows; "none": unknown.
std::string after(
    mcp::replay_store& store,
    const mcp::event_position& last,
    core::steady_time at = now,
    std::string_view owner = "me"
)
{
    const auto rest = store.after(last, owner, at);
    if (!rest) {
        return "none";
    }
    std::string out{rest->gap ? "gap" : ""};
    for (const auto& each : rest->events) {
        out += (out.empty() ? "" : " ") + std::to_string(each.number) + ":" + std::string{each.text};
    }
    return out + (rest->ended ? " end" : "");
}

}  // namespace

TEST_CASE("what came after the last event comes again")
{
    mcp::replay_store store{3, {}};
    const auto stream = store.open("me");
    const auto one = store.keep(stream, "a", now);
    const auto two = store.keep(stream, "b", now);
    const auto three = store.keep(stream, "c", now);
    CHECK(one.worker == 3);
    CHECK(after(store, one) == "2:b 3:c");
    CHECK(after(store, two) == "3:c");
    CHECK(after(store, three).empty());
    store.end(stream);
    CHECK(after(store, two) == "3:c end");
    CHECK(after(store, three) == " end");
}

TEST_CASE("a stream is its owner's, and places that are none are unknown")
{
    mcp::replay_store store{3, {}};
    const auto stream = store.open("me");
    const auto one = store.keep(stream, "a", now);
    const auto other = store.open("you");
    store.keep(other, "x", now);
    CHECK(after(store, one, now, "you") == "none");
    CHECK(after(store, one, now, "") == "none");
    CHECK(after(store, {4, stream, 1}) == "none");
    CHECK(after(store, {3, stream, 0}) == "none");
    CHECK(after(store, {3, stream, 2}) == "none");
    CHECK(after(store, {3, stream, ~0ULL}) == "none");
    CHECK(after(store, {3, stream + 1, 1}) == "none");
    CHECK(after(store, {3, other, 1}) == "none");
    store.forget(stream);
    CHECK(after(store, one) == "none");
    CHECK(store.bytes() == 1 + mcp::kept_event_overhead);
}

TEST_CASE("a stream keeps so many events, and then the first ones go")
{
    mcp::replay_store store{0, {.events = 3}};
    const auto stream = store.open("me");
    const auto one = store.keep(stream, "a", now);
    store.keep(stream, "b", now);
    store.keep(stream, "c", now);
    CHECK(after(store, one) == "2:b 3:c");
    store.keep(stream, "d", now);
    CHECK(after(store, one) == "2:b 3:c 4:d");
    store.keep(stream, "e", now);
    CHECK(after(store, one) == "gap 3:c 4:d 5:e");
}

TEST_CASE("a stream keeps so many bytes, and an event that is longer leaves a gap")
{
    const std::size_t room = 2 * (mcp::kept_event_overhead + 10);
    mcp::replay_store store{0, {.stream_bytes = room}};
    const auto stream = store.open("me");
    const auto one = store.keep(stream, std::string(10, 'a'), now);
    store.keep(stream, std::string(9, 'b'), now);
    CHECK(store.bytes() == room - 1);
    CHECK(after(store, one) == "2:bbbbbbbbb");
    const auto third = store.keep(stream, std::string(11, 'c'), now);
    CHECK(store.bytes() == room);
    CHECK(after(store, one) == "2:bbbbbbbbb 3:ccccccccccc");
    const auto fourth = store.keep(stream, std::string(room, 'd'), now);
    CHECK(store.bytes() == 0);
    CHECK(after(store, third) == "gap");
    CHECK(after(store, fourth).empty());
    store.keep(stream, "e", now);
    CHECK(after(store, third) == "gap 5:e");
    CHECK(after(store, fourth) == "5:e");
}

TEST_CASE("all streams together keep so many bytes, and the oldest events go")
{
    mcp::replay_store store{0, {.bytes = 3 * (mcp::kept_event_overhead + 1)}};
    const auto first = store.open("me");
    const auto second = store.open("me");
    const auto one = store.keep(first, "a", now);
    const auto two = store.keep(second, "b", now);
    store.keep(first, "c", now);
    CHECK(after(store, one) == "2:c");
    store.keep(second, "d", now);
    store.keep(second, "e", now);
    CHECK(after(store, one) == "2:c");
    CHECK(after(store, two) == "2:d 3:e");
    store.end(first);
    store.keep(second, "f", now);
    CHECK(after(store, one) == "none");
    CHECK(after(store, two) == "2:d 3:e 4:f");
    CHECK(store.streams() == 1);
}

TEST_CASE("events are kept for 5 minutes")
{
    mcp::replay_store store{0, {}};
    const auto stream = store.open("me");
    const auto one = store.keep(stream, "a", now);
    store.keep(stream, "b", now + 1min);
    CHECK(after(store, one, now + 5min - 1ns) == "2:b");
    CHECK(after(store, one, now + 5min) == "2:b");
    CHECK(after(store, one, now + 6min) == "gap");
    CHECK(store.streams() == 1);
    store.end(stream);
    CHECK(store.streams() == 0);
    CHECK(store.bytes() == 0);
    CHECK(store.keep(stream, "late", now).number == 0);
    store.end(stream);
    store.forget(stream);
}

TEST_CASE("an ended stream goes with its last event")
{
    mcp::replay_store store{0, {}};
    const auto stream = store.open("me");
    store.keep(stream, "a", now);
    store.end(stream);
    store.expire(now + 5min - 1ns);
    CHECK(store.streams() == 1);
    store.expire(now + 5min);
    CHECK(store.streams() == 0);
}

TEST_CASE("a place has one text, and no other text is one")
{
    for (const auto& place : std::vector<mcp::event_position>{{0, 0, 0}, {7, 0xABCDEF, 12}, {0xFFFF, ~0ULL, ~0ULL}}) {
        CHECK(mcp::event_position::read(place.to_text()) == place);
    }
    CHECK(mcp::event_position{7, 0xABCDEF, 12}.to_text() == "7-abcdef-12");
    for (const std::string text :
         {"",
          "-",
          "--",
          "1-2",
          "1-2-",
          "1-2-3-",
          "1-2-3-4",
          "1-2-3 ",
          " 1-2-3",
          "01-2-3",
          "1-AB-3",
          "1-0a-3",
          "+1-2-3",
          "65536-1-1",
          "1-10000000000000000-1",
          "1-1-18446744073709551616",
          "1--1-1"}) {
        CAPTURE(text);
        CHECK(!mcp::event_position::read(text));
    }
}

TEST_CASE("streams have other numbers, even if the random source repeats itself")
{
    unsigned char next = 0;
    mcp::replay_store store{0, {}, [&next](std::span<unsigned char> bytes) {
                                std::ranges::fill(bytes, static_cast<unsigned char>(next++ / 2));
                            }};
    CHECK(store.open("a") != store.open("a"));
}

TEST_SUITE_END();
