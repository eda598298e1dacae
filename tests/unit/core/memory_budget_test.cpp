#include "core/memory_budget.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

TEST_SUITE_BEGIN("core/memory_budget");

TEST_CASE("a budget gives out exactly what it has")
{
    core::memory_budget budget{10};
    CHECK(budget.take(9));
    CHECK_FALSE(budget.take(2));
    CHECK(budget.take(1));
    CHECK_FALSE(budget.take(1));
    CHECK_FALSE(budget.take(std::numeric_limits<std::uint64_t>::max()));
    CHECK(budget.held() == 10);
    budget.give(10);
    CHECK(budget.take(10));
}

TEST_CASE("a budget leaves what has to be left to others")
{
    core::memory_budget budget{10};
    CHECK_FALSE(budget.take(8, 3));
    CHECK(budget.take(7, 3));
    CHECK_FALSE(budget.take(1, 3));
    CHECK(budget.take(3));
    CHECK_FALSE(budget.take(0, 11));
}

TEST_CASE("a share grows and shrinks, and ends with what it holds")
{
    core::memory_budget budget{10};
    {
        core::memory_share share{budget};
        CHECK(share.hold(4));
        CHECK(share.hold(10));
        CHECK_FALSE(share.hold(11));
        CHECK(share.held() == 10);
        CHECK(share.hold(6));
        CHECK(budget.held() == 6);
        const auto moved = std::move(share);
        CHECK(moved.held() == 6);
        CHECK(budget.held() == 6);
        core::memory_share other{budget, 2};
        CHECK_FALSE(other.hold(3));
        CHECK(other.hold(2));
        other = core::memory_share{};
        CHECK(budget.held() == 6);
    }
    CHECK(budget.held() == 0);
}

TEST_CASE("a share of no budget holds nothing")
{
    core::memory_share share;
    CHECK(share.hold(0));
    CHECK_FALSE(share.hold(1));
}

TEST_SUITE_END();
