#include "gateway/balancing/breaker.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::breaker;
using gateway::balancing::breaker_change;
using gateway::balancing::breaker_settings;
using gateway::balancing::breaker_state;
using gateway::balancing::call_end;

namespace {

const core::steady_time start{1h};

double no_jitter()
{
    return 0;
}

double most_jitter()
{
    return 0.999'999;
}

// One call that is admitted and ends at once.
breaker_change call(breaker& of, call_end how, core::steady_time now)
{
    const auto permit = of.admit(now);
    REQUIRE(permit.has_value());
    return permit ? of.ended(*permit, how, now) : breaker_change::none;
}

breaker_state after(std::string_view calls, const breaker_settings& settings = {})
{
    breaker tested{settings, start, no_jitter};
    for (const char each : calls) {
        const auto permit = tested.admit(start);
        if (!permit) {
            break;
        }
        const auto how = each == 'f'   ? call_end::failed
                         : each == 'u' ? call_end::unreachable
                         : each == '?' ? call_end::unknown
                                       : call_end::answered;
        tested.ended(*permit, how, start);
    }
    return tested.state();
}

void open(breaker& tested, core::steady_time now = start, call_end how = call_end::failed)
{
    while (tested.state() != breaker_state::open) {
        call(tested, how, now);
    }
}

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/breaker");

TEST_CASE("It opens after five failures without a success in between, and not after four")
{
    struct row {
        std::string calls;  // f: failed, u: unreachable, a: answered, ?: unknown
        breaker_state state;
    };
    const row rows[] = {
        {"", breaker_state::closed},
        {"ffff", breaker_state::closed},
        {"fffff", breaker_state::open},
        {"uuuu", breaker_state::closed},
        {"uuuuu", breaker_state::open},
        {"fufuf", breaker_state::open},
        {"ffffaffff", breaker_state::closed},
        {"ffffafffff", breaker_state::open},
        {"ff??f?f", breaker_state::closed},
        {"ff??f?ff", breaker_state::open},
        {"????????????", breaker_state::closed},
    };
    for (const auto& row : rows) {
        CAPTURE(row.calls);
        CHECK(after(row.calls) == row.state);
    }
    CHECK(after("f", {.failures = 1}) == breaker_state::open);
}

TEST_CASE("It opens when half of at least twenty calls in the window failed")
{
    const auto mixed = [](int calls, int failed) {
        // Failures are never one after the other but at the end.
        std::string text(static_cast<std::size_t>(calls), 'a');
        for (int i = 0; i < failed; ++i) {
            text[text.size() - 1 - static_cast<std::size_t>(2 * i)] = 'f';
        }
        return text;
    };
    CHECK(after(mixed(19, 10)) == breaker_state::closed);
    CHECK(after(mixed(20, 10)) == breaker_state::open);
    CHECK(after(mixed(20, 9)) == breaker_state::closed);
    CHECK(after(mixed(20, 5), {.ratio = 0.25}) == breaker_state::open);
    CHECK(after(mixed(20, 4), {.ratio = 0.25}) == breaker_state::closed);
    CHECK(after(mixed(4, 2), {.volume = 4}) == breaker_state::open);
}

TEST_CASE("Failures that have left the window do not count for the ratio")
{
    breaker tested{{.failures = 1000}, start, no_jitter};
    for (int i = 0; i < 19; ++i) {
        CHECK(call(tested, call_end::failed, start) == breaker_change::none);
    }
    CHECK(call(tested, call_end::failed, start + 30s) == breaker_change::none);
    for (int i = 0; i < 18; ++i) {
        CHECK(call(tested, call_end::failed, start + 30s) == breaker_change::none);
    }
    CHECK(call(tested, call_end::failed, start + 30s) == breaker_change::opened);
}

TEST_CASE("A thousand calls a second with two in ten thousand failing do not open it")
{
    breaker tested{{}, start, no_jitter};
    for (int i = 0; i < 100'000; ++i) {
        const auto how = i % 5000 == 0 ? call_end::failed : call_end::answered;
        REQUIRE(call(tested, how, start + 1ms * i) == breaker_change::none);
    }
    CHECK(tested.openings() == 0);
}

TEST_CASE("While it is open nothing is admitted until the cooldown is over, then one call at a time")
{
    breaker tested{{}, start, no_jitter};
    open(tested);
    CHECK(tested.again_at(start) == start + 30s);
    CHECK_FALSE(tested.admit(start).has_value());
    CHECK_FALSE(tested.admit(start + 29'999ms).has_value());
    CHECK(tested.state() == breaker_state::open);

    const auto trial = tested.admit(start + 30s);
    REQUIRE(trial.has_value());
    CHECK(tested.state() == breaker_state::half_open);
    CHECK_FALSE(tested.admit(start + 59'999ms).has_value());
    CHECK(tested.again_at(start + 30s) == start + 30s);
    if (trial) {
        CHECK(tested.ended(*trial, call_end::answered, start + 31s) == breaker_change::closed);
    }
    CHECK(tested.state() == breaker_state::closed);
    CHECK(tested.admit(start + 31s).has_value());
    CHECK(tested.openings() == 1);
}

TEST_CASE("A trial that says nothing gives its place to the next call")
{
    breaker tested{{}, start, no_jitter};
    open(tested);
    for (int i = 0; i < 3; ++i) {
        CHECK(call(tested, call_end::unknown, start + 30s) == breaker_change::none);
        CHECK(tested.state() == breaker_state::half_open);
    }
    CHECK(call(tested, call_end::answered, start + 30s) == breaker_change::closed);
}

TEST_CASE("A trial that lasts as long as a cooldown lets another call try, and both may close or open it")
{
    for (const bool by_first : {true, false}) {
        CAPTURE(by_first);
        for (const auto how : {call_end::answered, call_end::failed}) {
            breaker tested{{}, start, no_jitter};
            open(tested);
            const auto first = tested.admit(start + 30s);
            CHECK_FALSE(tested.admit(start + 60s - 1ms).has_value());
            const auto second = tested.admit(start + 60s);
            CHECK_FALSE(tested.admit(start + 90s - 1ms).has_value());
            CHECK(tested.state() == breaker_state::half_open);
            REQUIRE((first.has_value() && second.has_value()));
            const auto& ends = by_first ? first : second;
            const auto& late = by_first ? second : first;
            if (ends && late) {
                CHECK(tested.ended(*ends, how, start + 61s) != breaker_change::none);
                CHECK(tested.ended(*late, call_end::failed, start + 62s) == breaker_change::none);
            }
            CHECK(tested.state() == (how == call_end::answered ? breaker_state::closed : breaker_state::open));
        }
    }
}

TEST_CASE("A trial keeps others out for thirty seconds, however short the cooldown is")
{
    breaker tested{{.cooldown = 100ms}, start, no_jitter};
    open(tested);
    REQUIRE(tested.admit(start + 100ms).has_value());
    CHECK_FALSE(tested.admit(start + 30'099ms).has_value());
    CHECK(tested.admit(start + 30'100ms).has_value());
}

TEST_CASE("A cooldown grows with each opening in a row, up to its limit, and a success begins it again")
{
    breaker tested{{}, start, no_jitter};
    open(tested);
    auto now = start;
    for (const auto expected : {30s, 60s, 90s, 120s, 150s, 180s, 210s, 240s, 270s, 300s, 300s, 300s}) {
        CHECK(tested.again_at(now) - now == expected);
        now = tested.again_at(now);
        CHECK(call(tested, call_end::failed, now) == breaker_change::opened);
    }
    now = tested.again_at(now);
    CHECK(call(tested, call_end::answered, now) == breaker_change::closed);
    open(tested, now);
    CHECK(tested.again_at(now) - now == 30s);
}

TEST_CASE("Up to a fifth of a cooldown is taken off at random")
{
    breaker tested{{}, start, most_jitter};
    open(tested);
    CHECK(tested.again_at(start) > start + 24s);
    CHECK(tested.again_at(start) <= start + 24'001ms);
}

TEST_CASE("What the old state admitted changes nothing in the next one")
{
    breaker tested{{}, start, no_jitter};
    std::vector<breaker::permit> old;
    for (int i = 0; i < 10; ++i) {
        if (const auto permit = tested.admit(start)) {
            old.push_back(*permit);
        }
    }
    REQUIRE(old.size() == 10);
    for (int i = 0; i < 4; ++i) {
        CHECK(tested.ended(old[static_cast<std::size_t>(i)], call_end::failed, start) == breaker_change::none);
    }
    CHECK(tested.ended(old[4], call_end::failed, start) == breaker_change::opened);
    CHECK(tested.ended(old[5], call_end::failed, start) == breaker_change::none);
    CHECK(tested.ended(old[6], call_end::answered, start) == breaker_change::none);
    CHECK(tested.state() == breaker_state::open);
    CHECK(tested.openings() == 1);

    const auto trial = tested.admit(start + 30s);
    REQUIRE(trial.has_value());
    CHECK(tested.ended(old[7], call_end::answered, start + 30s) == breaker_change::none);
    CHECK(tested.ended(old[8], call_end::failed, start + 30s) == breaker_change::none);
    CHECK(tested.state() == breaker_state::half_open);
    if (trial) {
        CHECK(tested.ended(*trial, call_end::answered, start + 30s) == breaker_change::closed);
    }
    CHECK(tested.ended(old[9], call_end::failed, start + 30s) == breaker_change::none);
}

TEST_CASE("What the old state admitted does not count for the ratio in the next one")
{
    breaker tested{{}, start, no_jitter};
    std::vector<breaker::permit> old;
    for (int i = 0; i < 19; ++i) {
        if (const auto permit = tested.admit(start)) {
            old.push_back(*permit);
        }
    }
    REQUIRE(old.size() == 19);
    open(tested);
    CHECK(call(tested, call_end::answered, start + 30s) == breaker_change::closed);
    for (const auto& each : old) {
        CHECK(tested.ended(each, call_end::failed, start + 31s) == breaker_change::none);
    }
    CHECK(call(tested, call_end::failed, start + 31s) == breaker_change::none);
    CHECK(tested.state() == breaker_state::closed);
}

TEST_CASE("An endpoint that cannot be connected to is closed to calls until a probe connects")
{
    breaker tested{{}, start, no_jitter};
    CHECK_FALSE(tested.awaits_probe());
    open(tested, start, call_end::unreachable);
    CHECK(tested.awaits_probe());
    CHECK(tested.again_at(start) == start + 1s);
    CHECK_FALSE(tested.admit(start + 1h).has_value());
    tested.probed(false, start + 1s);
    CHECK(tested.again_at(start + 1s) == start + 2s);
    CHECK_FALSE(tested.admit(start + 2s).has_value());
    tested.probed(true, start + 2s);
    CHECK(tested.state() == breaker_state::half_open);
    CHECK_FALSE(tested.awaits_probe());
    CHECK(call(tested, call_end::answered, start + 2s) == breaker_change::closed);
    tested.probed(true, start + 3s);
    CHECK(tested.state() == breaker_state::closed);
}

TEST_CASE("A probe changes nothing of a breaker that waits for its cooldown")
{
    breaker tested{{}, start, no_jitter};
    open(tested);
    tested.probed(true, start + 1s);
    CHECK(tested.state() == breaker_state::open);
    CHECK_FALSE(tested.admit(start + 1s).has_value());
}

TEST_CASE("A trial that fails opens it again by how it failed")
{
    breaker tested{{}, start, no_jitter};
    open(tested, start, call_end::unreachable);
    tested.probed(true, start + 1s);
    CHECK(call(tested, call_end::failed, start + 1s) == breaker_change::opened);
    CHECK_FALSE(tested.awaits_probe());
    CHECK(tested.again_at(start + 1s) == start + 61s);
    CHECK(call(tested, call_end::unreachable, start + 61s) == breaker_change::opened);
    CHECK(tested.awaits_probe());
    CHECK(tested.openings() == 3);
}

TEST_CASE("An operator closes it, and what was counted before is forgotten")
{
    breaker tested{{}, start, no_jitter};
    CHECK_FALSE(tested.close());
    open(tested);
    CHECK(tested.close());
    CHECK(tested.state() == breaker_state::closed);
    for (int i = 0; i < 4; ++i) {
        CHECK(call(tested, call_end::failed, start) == breaker_change::none);
    }
    CHECK(call(tested, call_end::failed, start) == breaker_change::opened);
    CHECK(tested.again_at(start) == start + 30s);
}

TEST_SUITE_END();
