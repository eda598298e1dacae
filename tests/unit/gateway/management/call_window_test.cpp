#include "gateway/management/call_book.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <vector>

TEST_SUITE_BEGIN("gateway/call_window");

namespace {

using namespace std::chrono_literals;
using gateway::management::call_window;

constexpr core::steady_time start{6'000s};  // a step begins here

}  // namespace

TEST_CASE("five calls say something of an agent, and more than half of them have to fail")
{
    struct row {
        std::uint32_t calls;
        std::uint32_t failures;
        bool failing;
    };
    for (const auto& each : std::vector<row>{
             {0, 0, false},
             {4, 4, false},
             {5, 5, true},
             {5, 3, true},
             {5, 2, false},
             {6, 6, true},
             {6, 4, true},
             {6, 3, false},
             {100, 50, false},
             {100, 51, true},
             {100, 49, false},
         }) {
        CAPTURE(each.calls);
        CAPTURE(each.failures);
        call_window at_once;
        at_once.add(each.calls, each.failures, start);
        CHECK(at_once.failing(start) == each.failing);
        call_window spread;
        for (std::uint32_t i = 0; i < each.calls; ++i) {
            spread.add(1, i < each.failures ? 1 : 0, start + i * 2s);
        }
        CHECK(spread.failing(start + each.calls * 2s) == each.failing);
    }
}

TEST_CASE("calls count until five minutes after the beginning of their step")
{
    call_window window;
    window.add(5, 5, start);
    CHECK(window.failing(start + call_window::span - 1ns));
    CHECK_FALSE(window.failing(start + call_window::span));
    CHECK_FALSE(window.failing(start + 24h));
    call_window late;
    late.add(5, 5, start + call_window::step - 1ns);
    CHECK(late.failing(start + call_window::span - 1ns));
    CHECK_FALSE(late.failing(start + call_window::span));
}

TEST_CASE(
    "an agent whose calls work again is not failing once most calls of the window worked, or the failures are over"
)
{
    call_window window;
    window.add(6, 6, start);
    window.add(5, 0, start + 1min);
    CHECK(window.failing(start + 1min));
    window.add(1, 0, start + 2min);
    CHECK_FALSE(window.failing(start + 2min));
    window.add(2, 2, start + 3min);
    CHECK(window.failing(start + 3min));
    CHECK_FALSE(window.failing(start + call_window::span));
}

TEST_CASE("what is older than the window comes back with no later call")
{
    for (const auto gap : {5min, 6min, 9min, 10min, 100min}) {
        call_window window;
        for (int i = 0; i < 20; ++i) {
            window.add(10, 10, start + i * call_window::step);
        }
        const auto again = start + 19 * call_window::step + gap;
        CHECK_FALSE(window.failing(again));
        window.add(4, 4, again);
        CHECK_FALSE(window.failing(again));
        window.add(1, 1, again);
        CHECK(window.failing(again));
    }
}

TEST_SUITE_END();
