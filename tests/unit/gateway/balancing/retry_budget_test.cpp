#include "gateway/balancing/call_gate.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::retry_budget;

namespace {

const core::steady_time start{1h};

int taken(retry_budget& budget, double share, core::steady_time now, int wanted = 1000)
{
    int got = 0;
    for (int i = 0; i < wanted; ++i) {
        got += budget.take(share, now) ? 1 : 0;
    }
    return got;
}

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/retry budget");

TEST_CASE("Three retries are free in each second, whatever the share")
{
    for (const double share : {0.0, 0.2}) {
        retry_budget budget{start};
        CHECK(taken(budget, share, start) == 3);
        CHECK(taken(budget, share, start + 999ms) == 0);
        CHECK(taken(budget, share, start + 1s) == 3);
        CHECK(taken(budget, share, start + 1h) == 3);
    }
}

TEST_CASE("Of a hundred calls twenty are sent again, and no twenty-first")
{
    retry_budget budget{start};
    for (int i = 0; i < 100; ++i) {
        budget.add_call(start);
    }
    CHECK(taken(budget, 0.2, start + 500ms) == 20);
    CHECK(taken(budget, 0.2, start + 5s) == 3);       // of that second
    CHECK(taken(budget, 0.2, start + 9'999ms) == 3);  // the calls still count, and so do their retries
    CHECK(taken(budget, 0.2, start + 10s) == 3);      // neither of them any more
}

TEST_CASE("A share of one allows a retry of every call, and a share of zero none but the free ones")
{
    retry_budget all{start};
    retry_budget none{start};
    for (int i = 0; i < 50; ++i) {
        all.add_call(start);
        none.add_call(start);
    }
    CHECK(taken(all, 1.0, start) == 50);
    CHECK(taken(none, 0.0, start) == 3);
}

TEST_CASE("An agent that always fails gets at most 1.2 times its calls and three a second, over a minute of any load")
{
    for (const int calls_a_second : {1, 10, 100, 1000}) {
        CAPTURE(calls_a_second);
        retry_budget budget{start};
        int retries = 0;
        for (int second = 0; second < 60; ++second) {
            for (int i = 0; i < calls_a_second; ++i) {
                const auto now = start + 1s * second + 1ms * (i * 1000 / calls_a_second);
                budget.add_call(now);
                retries += budget.take(0.2, now) ? 1 : 0;
            }
        }
        CHECK(retries <= 60 * calls_a_second / 5 + 60 * 3);
        CHECK(retries >= 60 * calls_a_second / 5);  // the budget is there to be used
    }
}

TEST_CASE("Threads together take no more than the budget")
{
    retry_budget budget{start};
    for (int i = 0; i < 1000; ++i) {
        budget.add_call(start);
    }
    std::atomic<int> got{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] { got += taken(budget, 0.2, start, 10'000); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(got.load() <= 200);
    CHECK(got.load() >= 3);
}

TEST_SUITE_END();
