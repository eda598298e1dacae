#include "gateway/balancing/sliding_counts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::counted;
using gateway::balancing::sliding_counts;

namespace {

const core::steady_time start{1h};

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/sliding counts");

TEST_CASE("What was added counts for ten slots, and not in the eleventh")
{
    sliding_counts counts{start, 10s};
    CHECK(counts.sum(start) == counted{});
    CHECK(counts.add(start, {1, 0}) == counted{1, 0});
    CHECK(counts.add(start + 999ms, {2, 1}) == counted{3, 1});
    CHECK(counts.add(start + 1s, {5, 5}) == counted{5, 5});
    CHECK(counts.sum(start + 1s) == counted{8, 6});
    CHECK(counts.sum(start + 9'999ms) == counted{8, 6});
    CHECK(counts.sum(start + 10s) == counted{5, 5});
    CHECK(counts.sum(start + 11s) == counted{});
}

TEST_CASE("A slot that is used again begins at zero")
{
    sliding_counts counts{start, 10s};
    counts.add(start, {7, 7});
    CHECK(counts.add(start + 10s, {1, 0}) == counted{1, 0});
    CHECK(counts.sum(start + 10s) == counted{1, 0});
    CHECK(counts.add(start + 1h, {1, 1}) == counted{1, 1});
    CHECK(counts.sum(start + 1h) == counted{1, 1});
}

TEST_CASE("What is taken back is gone, and of another slot nothing is taken")
{
    sliding_counts counts{start, 10s};
    counts.add(start, {3, 2});
    counts.take_back(start, {1, 1});
    CHECK(counts.sum(start) == counted{2, 1});
    counts.take_back(start + 10s, {1, 1});  // the same place, but a slot that nothing was added to
    CHECK(counts.sum(start) == counted{2, 1});
    counts.take_back(start, {9, 9});
    CHECK(counts.sum(start) == counted{});
}

TEST_CASE("Times before the beginning count as the beginning, and clear() forgets all")
{
    sliding_counts counts{start, 10s};
    counts.add(start - 1h, {1, 1});
    CHECK(counts.sum(start) == counted{1, 1});
    counts.clear();
    CHECK(counts.sum(start) == counted{});
}

TEST_CASE("A number stays at the largest that fits, and does not reach into the other one")
{
    constexpr std::uint64_t most = (1U << 24U) - 1;
    sliding_counts counts{start, 10s};
    counts.add(start, {most - 1, 1});
    counts.add(start, {5, 0});
    CHECK(counts.sum(start) == counted{most, 1});
    counts.add(start, {0, 2 * most});
    CHECK(counts.sum(start) == counted{most, most});
}

TEST_CASE("Nothing that threads add at once is lost")
{
    sliding_counts counts{start, 10s};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 10'000; ++n) {
                counts.add(start + 1ms * n, {2, 1});
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(counts.sum(start + 9s) == counted{80'000, 40'000});
}

TEST_SUITE_END();
