#include "gateway/cards/card_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/card_schedule");

namespace {

using namespace std::chrono_literals;
using gateway::cards::card_schedule;

const core::steady_time start{};

config::card_settings settings()
{
    config::card_settings some;
    some.ttl = 5min;
    some.negative_ttl = 5s;
    return some;
}

// The first second, from `from` on, at whose end an id is due.
core::duration waits(card_schedule& schedule, core::steady_time from, core::duration step = 10ms)
{
    for (core::duration waited{};; waited += step) {
        REQUIRE(waited <= 24h);
        if (schedule.take(from + waited)) {
            return waited;
        }
    }
}

// How many of `times` lie in the fullest second.
long fullest_second(std::vector<core::steady_time> times)
{
    std::ranges::sort(times);
    long most = 0;
    for (auto from = times.begin(); from != times.end(); ++from) {
        most = std::max(most, std::lower_bound(from, times.end(), *from + 1s) - from);
    }
    return most;
}

}  // namespace

TEST_CASE("ten thousand agents are not asked in the same second, at first and after that")
{
    const auto some = settings();
    card_schedule schedule{some, 1};
    constexpr int agents = 10'000;
    for (int i = 0; i < agents; ++i) {
        schedule.add("agent-" + std::to_string(i), start);
    }
    CHECK(schedule.take(start) == "agent-0");
    CHECK_FALSE(schedule.take(start));
    schedule.succeeded("agent-0", start, 5min);

    std::vector<core::steady_time> first;
    std::vector<core::steady_time> again;
    for (core::duration at{}; again.size() < agents; at += 10ms) {
        while (const auto id = schedule.take(start + at)) {
            (first.size() < agents - 1 ? first : again).push_back(start + at);
            schedule.succeeded(*id, start + at, 5min);
        }
    }
    CHECK(fullest_second(first) <= 100);
    CHECK(fullest_second(again) <= 250);
}

TEST_CASE("a card is fetched again before its freshness ends")
{
    const auto some = settings();
    card_schedule schedule{some, 2};
    schedule.add("a", start);
    std::vector<core::duration> waited;
    for (int i = 0; i < 200; ++i) {
        REQUIRE(schedule.take(start));
        schedule.succeeded("a", start, 100s);
        waited.push_back(waits(schedule, start));
        schedule.succeeded("a", start - 200s, 100s);
    }
    const auto [least, most] = std::ranges::minmax(waited);
    CHECK(least >= 75s);
    CHECK(least < 78s);
    CHECK(most <= 95s);
    CHECK(most > 92s);
}

TEST_CASE("a card with no freshness is fetched once a second at most")
{
    const auto some = settings();
    card_schedule schedule{some, 3};
    schedule.add("a", start);
    REQUIRE(schedule.take(start));
    schedule.succeeded("a", start, 0s);
    CHECK(waits(schedule, start) == 1s);
}

TEST_CASE("an agent that fails is asked ever less often, and at once as often as before when it has recovered")
{
    const auto some = settings();
    card_schedule schedule{some, 4};
    schedule.add("a", start);
    REQUIRE(schedule.take(start));
    for (const auto least : {5s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        CAPTURE(least.count());
        schedule.failed("a", start);
        const auto waited = waits(schedule, start);
        CHECK(waited >= least);
        CHECK(waited <= least * 3 / 2 + 10ms);
    }
    schedule.succeeded("a", start, 100s);
    REQUIRE(waits(schedule, start) >= 75s);
    schedule.failed("a", start);
    CHECK(waits(schedule, start) < 8s);
}

TEST_CASE("An agent that is added again has no failures behind it, and is due once")
{
    const auto some = settings();
    card_schedule schedule{some, 7};
    schedule.add("a", start);
    REQUIRE(schedule.take(start));
    for (int i = 0; i < 5; ++i) {
        schedule.failed("a", start);
    }
    schedule.add("a", start);
    CHECK(waits(schedule, start) <= 10ms);
    CHECK_FALSE(schedule.take(start + 24h));
    schedule.failed("a", start);
    CHECK(waits(schedule, start) < 8s);
}

TEST_CASE("an agent in the middle of a fetch, or that is gone, is not named")
{
    const auto some = settings();
    card_schedule schedule{some, 5};
    schedule.add("a", start);
    schedule.add("b", start);
    REQUIRE(schedule.take(start) == "a");
    schedule.remove("b");
    CHECK_FALSE(schedule.take(start + 24h));
    schedule.succeeded("b", start, 1s);
    schedule.failed("b", start);
    CHECK_FALSE(schedule.take(start + 24h));
    schedule.add("a", start);
    CHECK(schedule.take(start + 24h) == "a");
}

TEST_CASE("a fetch that a caller caused counts, too")
{
    const auto some = settings();
    card_schedule schedule{some, 6};
    schedule.add("a", start);
    schedule.succeeded("a", start, 100s);
    CHECK(waits(schedule, start) >= 75s);
}

TEST_SUITE_END();
