#include "gateway/balancing/fair_queue.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::fair_queue;
using place = gateway::balancing::fair_queue::place;

namespace {

const core::steady_time start{1h};

std::vector<std::uint64_t> all_of(fair_queue& queue, core::steady_time now)
{
    std::vector<std::uint64_t> out;
    while (const auto next = queue.pop(now)) {
        out.push_back(*next);
    }
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/fair queue");

TEST_CASE("Callers take turns, and each caller's calls go in their order")
{
    fair_queue queue{100};
    for (const std::uint64_t ticket : {10U, 11U, 12U, 13U}) {
        CHECK(queue.push(ticket, 1, start) == place::waits);
    }
    CHECK(queue.push(20, 2, start) == place::waits);
    CHECK(queue.push(30, 3, start) == place::waits);
    CHECK(queue.push(31, 3, start) == place::waits);
    CHECK(queue.size() == 7);
    CHECK(all_of(queue, start) == std::vector<std::uint64_t>{10, 20, 30, 11, 31, 12, 13});
    CHECK(queue.size() == 0);
}

TEST_CASE("Callers that may not have a place keep their turn while others pass")
{
    fair_queue queue{100};
    for (const std::uint64_t caller : {1U, 1U, 2U, 3U}) {
        static std::uint64_t ticket = 0;
        ++ticket;
        CHECK(queue.push(ticket, caller, start) == place::waits);
    }
    CHECK(queue.pop(start, [](auto caller) { return caller == 2; }) == 3);
    CHECK_FALSE(queue.pop(start, [](auto /*caller*/) { return false; }).has_value());
    CHECK(queue.size() == 3);
    CHECK(queue.pop(start, [](auto /*caller*/) { return true; }) == 1);
    CHECK(queue.pop(start) == 4);
    CHECK(queue.pop(start) == 2);
    CHECK_FALSE(queue.pop(start, [](auto /*caller*/) { return true; }).has_value());
}

TEST_CASE("The queue takes as many calls as its length, and one fewer or more is as it says")
{
    fair_queue queue{4};
    std::uint64_t ticket = 0;
    for (int i = 0; i < 4; ++i) {
        ++ticket;
        CHECK(queue.push(ticket, ticket, start) == place::waits);
    }
    CHECK(queue.push(5, 5, start) == place::full);
    CHECK(queue.pop(start) == 1);
    CHECK(queue.push(5, 5, start) == place::waits);
    CHECK(queue.push(6, 6, start) == place::full);
    CHECK(fair_queue{0}.push(1, 1, start) == place::full);
}

TEST_CASE("A queue that becomes shorter keeps the calls that wait, and takes none until there is room")
{
    fair_queue queue{4};
    for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
        CHECK(queue.push(ticket, ticket, start) == place::waits);
    }
    queue.set_length(2);
    CHECK(queue.size() == 4);
    CHECK(queue.pop(start) == 1);
    CHECK(queue.pop(start) == 2);
    CHECK(queue.push(5, 5, start) == place::full);
    CHECK(queue.pop(start) == 3);
    CHECK(queue.push(5, 5, start) == place::waits);
}

TEST_CASE("One caller holds at most half of the queue, also while nobody else waits")
{
    fair_queue queue{6};
    for (const std::uint64_t ticket : {1U, 2U, 3U}) {
        CHECK(queue.push(ticket, 7, start) == place::waits);
    }
    CHECK(queue.push(4, 7, start) == place::share);
    CHECK(queue.push(5, 8, start) == place::waits);
    CHECK(queue.pop(start) == 1);
    CHECK(queue.push(4, 7, start) == place::waits);
    fair_queue single{1};
    CHECK(single.push(1, 7, start) == place::waits);
    CHECK(single.push(2, 8, start) == place::full);
}

TEST_CASE("A call that leaves is not given out, and its caller's turn ends with its last call")
{
    fair_queue queue{100};
    queue.push(10, 1, start);
    queue.push(20, 2, start);
    queue.push(21, 2, start);
    queue.push(30, 3, start);
    CHECK(queue.remove(20));
    CHECK_FALSE(queue.remove(20));
    CHECK(queue.remove(10));
    CHECK_FALSE(queue.remove(99));
    CHECK(queue.size() == 2);
    CHECK(all_of(queue, start) == std::vector<std::uint64_t>{21, 30});
    CHECK(queue.push(11, 1, start) == place::waits);
    CHECK(all_of(queue, start) == std::vector<std::uint64_t>{11});
}

TEST_CASE("After an interval in which every call waited too long the newest goes first, until waits are short again")
{
    fair_queue queue{1000};
    std::uint64_t ticket = 0;
    const auto push = [&](core::steady_time since) {
        ++ticket;
        CHECK(queue.push(ticket, 1, since) == place::waits);
    };
    for (int i = 0; i < 9; ++i) {
        push(start);
    }
    CHECK(queue.pop(start + 101ms) == 1);
    CHECK(queue.pop(start + 600ms) == 2);  // the interval lasts until 601 ms
    CHECK_FALSE(queue.newest_first());
    CHECK(queue.pop(start + 601ms) == 3);
    CHECK(queue.newest_first());
    push(start + 1100ms);
    CHECK(queue.pop(start + 1100ms) == 10);  // it waited not at all
    CHECK(queue.pop(start + 1101ms) == 9);
    CHECK_FALSE(queue.newest_first());
    CHECK(queue.pop(start + 1102ms) == 4);
}

TEST_CASE("Waits of a hundred milliseconds are not too long")
{
    fair_queue queue{1000};
    for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
        queue.push(ticket, ticket, start);
    }
    CHECK(queue.pop(start + 100ms) == 1);
    CHECK(queue.pop(start + 600ms) == 2);
    CHECK_FALSE(queue.newest_first());
}

TEST_CASE("Newest first keeps the turns of callers, and an empty queue forgets it")
{
    fair_queue queue{1000};
    for (const std::uint64_t ticket : {10U, 11U, 12U, 13U}) {
        queue.push(ticket, 1, start);
    }
    queue.push(20, 2, start);
    queue.push(21, 2, start);
    CHECK(queue.pop(start + 200ms) == 10);
    CHECK(queue.pop(start + 700ms) == 20);
    REQUIRE(queue.newest_first());
    CHECK(queue.pop(start + 701ms) == 13);
    CHECK(queue.pop(start + 701ms) == 21);
    CHECK(queue.pop(start + 701ms) == 12);
    CHECK(queue.pop(start + 701ms) == 11);
    CHECK_FALSE(queue.pop(start + 701ms).has_value());
    CHECK_FALSE(queue.newest_first());
}

TEST_CASE("A caller with a hundred times the calls of ten others delays none of them by more than one round")
{
    fair_queue queue{2000};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        CHECK(queue.push(i, 1, start) == place::waits);
    }
    for (std::uint64_t other = 2; other < 12; ++other) {
        CHECK(queue.push(10'000 + other, other, start) == place::waits);
    }
    std::vector<std::uint64_t> first;
    for (int i = 0; i < 11; ++i) {
        if (const auto next = queue.pop(start)) {
            first.push_back(*next);
        }
    }
    REQUIRE(first.size() == 11);
    CHECK(first[0] == 0);
    for (std::uint64_t i = 1; i < 11; ++i) {
        CHECK(first[i] == 10'000 + i + 1);
    }
}

TEST_SUITE_END();
