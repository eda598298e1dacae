#include "gateway/answer.hpp"

#include <doctest/doctest.h>

#include <chrono>

TEST_SUITE_BEGIN("gateway/answer");

using namespace std::chrono_literals;

TEST_CASE("Retry-After is in whole seconds, rounded up, and neither none nor for ever")
{
    constexpr core::steady_time now{5'000s};
    const std::pair<std::chrono::nanoseconds, std::uint64_t> rows[]{
        {-10s, 1},
        {0s, 1},
        {1ns, 1},
        {1s, 1},
        {1s + 1ns, 2},
        {60s, 60},
        {299s + 1ms, 300},
        {300s, 300},
        {24h, 300},
    };
    for (const auto& [left, seconds] : rows) {
        CAPTURE(left.count());
        CHECK(gateway::retry_after(now, now + left) == seconds);
    }
}

TEST_CASE("an error that will pass says when to come again, and others do not")
{
    const auto passing = gateway::error_answer(core::errc::session_crashed, "m", 17);
    CHECK(passing.fields.find("Retry-After: 17\r\n") != std::string::npos);
    CHECK(gateway::error_answer(core::errc::overloaded, {}).fields.find("Retry-After: 5\r\n") != std::string::npos);
    CHECK(gateway::error_answer(core::errc::card_invalid, "m", 17).fields.find("Retry-After") == std::string::npos);
}

TEST_SUITE_END();
