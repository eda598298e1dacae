#include "net/loop/shared_budget.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("net/loop/shared_budget");

TEST_CASE("a budget gives what it has, not one more, and takes back what a share ends with")
{
    net::shared_budget budget{100};
    {
        net::budget_share first{&budget};
        net::budget_share second{&budget};
        CHECK(first.set(60));
        CHECK_FALSE(second.set(41));
        CHECK(budget.taken() == 60);
        CHECK(second.set(40));
        CHECK(second.set(40));
        CHECK_FALSE(second.set(41));
        CHECK(budget.taken() == 100);
        CHECK(first.set(10));
        CHECK(second.set(90));
        CHECK(budget.taken() == 100);
    }
    CHECK(budget.taken() == 0);
    CHECK_FALSE(budget.take(101));
    CHECK_FALSE(budget.take(~std::uint64_t{0}));
    CHECK(net::budget_share{nullptr}.set(~std::uint64_t{0}));
}

TEST_CASE("a part of a budget gives no more than its own nor than the whole has, and gives back to both")
{
    net::shared_budget whole{100};
    {
        net::shared_budget part{60, &whole};
        net::budget_share mine{&part};
        CHECK_FALSE(mine.set(61));
        CHECK(whole.taken() == 0);
        CHECK(mine.set(60));
        CHECK(whole.taken() == 60);
        CHECK(mine.set(59));
        CHECK(whole.take(41));
        CHECK_FALSE(mine.set(60));
        CHECK(part.taken() == 59);
        CHECK(whole.taken() == 100);
    }
    CHECK(whole.taken() == 41);
}

TEST_CASE("threads that take and give at the same time never have more than there is")
{
    net::shared_budget budget{3};
    std::atomic<int> held = 0;
    std::atomic<bool> too_many = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 100'000; ++round) {
                if (budget.take(1)) {
                    too_many = too_many || ++held > 3;
                    --held;
                    budget.give(1);
                }
            }
        });
    }
    for (auto& each : threads) {
        each.join();
    }
    CHECK_FALSE(too_many);
    CHECK(budget.taken() == 0);
}

TEST_SUITE_END();
