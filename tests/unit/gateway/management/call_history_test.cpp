#include "gateway/management/call_history.hpp"

#include "gateway/telemetry/worker_metrics.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/call_history");

namespace {

using namespace std::chrono_literals;
using gateway::management::call_history;
using gateway::management::quantile_ms;
using gateway::model::call_note;
using gateway::model::call_numbers;
using gateway::telemetry::call_outcome;

constexpr core::steady_time start{5'000s};
constexpr core::wall_time noon{std::chrono::hours{500'000}};            // a whole hour
constexpr core::wall_time three_past = noon + std::chrono::minutes{3};  // within a quarter
using wide = std::array<std::uint64_t, call_numbers::buckets>;

// `calls` that all ended so, with latencies in this bucket.
call_note note(std::string agent, std::uint32_t calls, call_outcome how = call_outcome::ok, std::size_t bucket = 2)
{
    call_note out{.agent = std::move(agent)};
    out.all.ended[static_cast<std::size_t>(how)] = calls;
    out.all.latencies[bucket] = calls;
    return out;
}

}  // namespace

TEST_CASE("A percentile is interpolated within its bucket, as histogram_quantile does")
{
    // 10 within 1 ms, 30 from 1 to 2.5 ms, 60 from 2.5 to 5 ms.
    const wide some{10, 30, 60};
    CHECK(*quantile_ms(0.5, some) == doctest::Approx(2.5 + 2.5 * 10 / 60));
    CHECK(*quantile_ms(0.99, some) == doctest::Approx(2.5 + 2.5 * 59 / 60));
    CHECK(*quantile_ms(0.1, some) == doctest::Approx(1.0));
    CHECK(*quantile_ms(0.05, some) == doctest::Approx(0.5));
    CHECK(*quantile_ms(0.4, some) == doctest::Approx(2.5));
    CHECK(*quantile_ms(1, some) == doctest::Approx(5));
}

TEST_CASE("A percentile above the last bound is that bound, and without observations there is none")
{
    wide slow{};
    CHECK_FALSE(quantile_ms(0.5, slow).has_value());
    slow[15] = 3;
    CHECK(*quantile_ms(0.5, slow) == 60'000);
    slow[0] = 1;
    CHECK(*quantile_ms(0.25, slow) == 1);
    CHECK(*quantile_ms(0.26, slow) == 60'000);
    wide last{};
    last[14] = 2;
    CHECK(*quantile_ms(0.5, last) == 45'000);
}

TEST_CASE("Slots begin at whole minutes and quarters of the wall clock, the oldest first")
{
    call_history history{10, start, three_past + 20s};
    const auto of = history.series("", start);
    CHECK(of.since == three_past + 20s);
    REQUIRE(of.minutes.size() == 60);
    REQUIRE(of.quarters.size() == 96);
    CHECK(of.minutes.back().end == noon + 4min);
    CHECK(of.minutes.front().end == noon - 55min);
    CHECK(of.quarters.back().end == noon + 15min);
    CHECK(of.quarters.front().end == noon - 95 * 15min + 15min);
    CHECK(history.series("", start + 39s).minutes.back().end == noon + 4min);
    CHECK(history.series("", start + 40s).minutes.back().end == noon + 5min);
    CHECK(history.series("", start + 12min + 39s).quarters.back().end == noon + 30min);
}

TEST_CASE("Calls are counted by their outcome, of each agent and of the gateway")
{
    call_history history{10, start, noon};
    history.add({note("a", 5), note("a", 2, call_outcome::caller_error), note("b", 1)}, start);
    history.add({note("a", 3, call_outcome::upstream_error), note("a", 1, call_outcome::gateway_error)}, start + 1s);
    const auto a = history.series("a", start).minutes.back();
    CHECK(a.calls == 11);
    CHECK(a.failed == 4);
    CHECK(a.caller_errors == 2);
    CHECK(*a.p50_ms == 3.75);
    const auto all = history.series("", start);
    CHECK(all.minutes.back().calls == 12);
    CHECK(all.quarters.back().calls == 12);
    CHECK(history.series("b", start).quarters.back().calls == 1);
    CHECK(history.series("none", start).minutes.back().calls == 0);
    CHECK_FALSE(history.series("none", start).minutes.back().p50_ms.has_value());
}

TEST_CASE("A slot keeps its counts and percentiles for 60 minutes, a quarter for a day")
{
    call_history history{10, start, noon};
    history.add({note("a", 1, call_outcome::ok, 0), note("a", 99, call_outcome::ok, 3)}, start);
    for (const auto later : {1min, 58min, 59min}) {
        history.add({note("a", 1, call_outcome::upstream_error, 9)}, start + later);
        const auto of = history.series("a", start + later);
        const auto& slot = of.minutes[static_cast<std::size_t>(59 - later.count())];
        CHECK(slot.end == noon + 1min);
        CHECK(slot.calls == 100);
        CHECK(*slot.p50_ms == doctest::Approx(5 + 5 * 49.0 / 99).epsilon(0.0002));
        CHECK(*slot.p99_ms == doctest::Approx(5 + 5 * 98.0 / 99).epsilon(0.0002));
        CHECK(of.minutes.back().failed == 1);
    }
    history.add({note("a", 1)}, start + 60min);
    for (const auto& slot : history.series("a", start + 60min).minutes) {
        CHECK(slot.calls < 100);
    }
    const auto last = history.series("a", start + 24h - 1s).quarters.front();
    CHECK(last.end == noon + 15min);
    CHECK(last.calls == 101);
    CHECK(*last.p50_ms == doctest::Approx(5 + 5 * 49.5 / 99).epsilon(0.0002));
    CHECK(history.series("a", start + 24h).quarters.front().end == noon + 30min);
    CHECK(history.series("a", start + 24h).quarters.front().calls == 0);
    history.add({note("a", 1)}, start + 24h);
    CHECK(history.series("a", start + 24h).quarters.back().calls == 1);
    CHECK(history.series("a", start + 24h).quarters.front().calls == 0);
}

TEST_CASE("A history read later than its last call has moved on, without calls")
{
    call_history history{10, start, noon};
    history.add({note("a", 7)}, start);
    const auto of = history.series("a", start + 2min);
    CHECK(of.minutes[57].calls == 7);
    CHECK(of.minutes[58].calls == 0);
    CHECK(of.minutes[59].calls == 0);
    CHECK(history.spark_of("a", start + 2min)[57] == 7);
    CHECK(history.spark_of("a", start + 59min)[0] == 7);
    CHECK(history.spark_of("a", start + 60min)[0] == 0);
    CHECK(history.series("a", start + 3h).minutes[0].calls == 0);
}

TEST_CASE("Recent calls are those of the last five full minutes, or of those that there have been")
{
    call_history history{10, start, noon};
    history.add({note("a", 10, call_outcome::ok, 1), note("a", 30, call_outcome::upstream_error, 2)}, start);
    CHECK(history.recent_of("a", start + 59s).calls_per_minute == 0);
    CHECK_FALSE(history.recent_of("a", start + 59s).failed_ratio.has_value());
    const auto after_one = history.recent_of("a", start + 1min);
    CHECK(after_one.calls_per_minute == 40);
    CHECK(*after_one.failed_ratio == 0.75);
    history.add({note("a", 60, call_outcome::ok, 2)}, start + 5min - 1s);
    const auto after_five = history.recent_of("a", start + 5min);
    CHECK(after_five.calls_per_minute == 20);
    CHECK(*after_five.failed_ratio == 0.3);
    CHECK(*after_five.p50_ms == 3.611);  // 2.5 + 2.5 * 40 / 90
    CHECK(*after_five.p99_ms == 4.972);  // 2.5 + 2.5 * 89 / 90
    history.add({note("a", 1000, call_outcome::gateway_error)}, start + 5min);
    CHECK(history.recent_of("a", start + 5min).calls_per_minute == 20);
    const auto after_six = history.recent_of("a", start + 6min);
    CHECK(after_six.calls_per_minute == 212);
    CHECK(*after_six.p50_ms == 3.75);
    CHECK(history.recent_of("a", start + 11min).calls_per_minute == 0);
    CHECK_FALSE(history.recent_of("a", start + 11min).p99_ms.has_value());
    history.add({note("a", 5)}, start + 30min);
    CHECK(history.recent_of("a", start + 31min).calls_per_minute == 1);
    CHECK(*history.recent_of("a", start + 31min).p50_ms == 3.75);
    CHECK(history.recent_of("none", start + 31min).calls_per_minute == 0);
}

TEST_CASE("How often an agent is called is not known without a history of it, if it may have had one")
{
    call_history none{0, start, noon};
    none.add({note("a", 10)}, start);
    CHECK_FALSE(none.recent_of("a", start + 1min).calls_per_minute.has_value());
    CHECK(none.recent_of({}, start + 1min).calls_per_minute == 10);
    call_history one{1, start, noon};
    one.add({note("a", 10)}, start);
    CHECK(one.recent_of("b", start + 1min).calls_per_minute == 0);
    one.add({note("b", 6)}, start + 2min);
    CHECK_FALSE(one.recent_of("a", start + 4min).calls_per_minute.has_value());
    CHECK_FALSE(one.recent_of("b", start + 2min).calls_per_minute.has_value());
    CHECK(one.recent_of("b", start + 4min).calls_per_minute == 3);
}

TEST_CASE("Latencies of a busy minute keep their percentiles")
{
    call_history history{10, start, noon};
    history.add({note("a", 3'000'000, call_outcome::ok, 1), note("a", 1'000'000, call_outcome::ok, 5)}, start);
    CHECK(history.series("a", start).minutes.back().calls == 4'000'000);
    history.add({note("a", 1)}, start + 1min);
    const auto recent = history.recent_of("a", start + 1min);
    CHECK(recent.calls_per_minute == 4'000'000);
    CHECK(*recent.p50_ms == 2);
    CHECK(*recent.p99_ms == doctest::Approx(49).epsilon(0.001));
}

TEST_CASE("The agent that was not called for longest loses its history first")
{
    call_history history{3, start, noon};
    history.add({note("a", 1), note("b", 1), note("c", 1)}, start);
    CHECK(history.agents() == 3);
    history.add({note("a", 1)}, start + 1s);
    CHECK(history.series("b", start + 5min).since == noon);
    history.add({note("d", 1)}, start + 5min);
    CHECK(history.agents() == 3);
    CHECK(history.spark_of("a", start + 5min)[54] == 2);
    CHECK(history.spark_of("b", start + 5min)[54] == 0);
    CHECK(history.spark_of("c", start + 5min)[54] == 1);
    CHECK(history.spark_of("", start + 5min)[54] == 4);
    CHECK(history.series("b", start + 5min).since == noon + 5min);
    CHECK(history.series("d", start + 9min).since == noon + 5min);
    CHECK(history.series("a", start + 9min).since == noon);
    CHECK(history.series("", start + 9min).since == noon);
}

TEST_CASE("Without places for agents only the gateway has a history")
{
    call_history history{0, start, noon};
    history.add({note("a", 2)}, start);
    CHECK(history.agents() == 0);
    CHECK(history.series("", start).minutes.back().calls == 2);
    CHECK(history.series("a", start).minutes.back().calls == 0);
    CHECK(history.series("a", start + 5min).since == noon + 5min);
}

TEST_SUITE_END();
