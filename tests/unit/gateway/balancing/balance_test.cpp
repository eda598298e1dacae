#include "gateway/balancing/endpoint_group.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <random>
#include <vector>

using namespace std::chrono_literals;
using namespace gateway::balancing;

namespace {

const core::steady_time start{1h};
constexpr core::duration failback{300'000};

std::vector<candidate> endpoints(std::size_t count)
{
    std::vector<candidate> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i].usable_since = start;
        all[i].identity = 1000 + i;
    }
    return all;
}

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/balance");

TEST_CASE("Failover takes the first usable endpoint in written order")
{
    auto all = endpoints(3);
    CHECK(choose_failover(all, std::nullopt, failback, start) == 0);
    all[0].usable = false;
    CHECK(choose_failover(all, std::nullopt, failback, start) == 1);
    CHECK(choose_failover(all, 0, failback, start) == 1);
    all[1].usable = false;
    CHECK(choose_failover(all, 1, failback, start) == 2);
    all[2].usable = false;
    CHECK(choose_failover(all, 2, failback, start) == std::nullopt);
    CHECK(choose_failover({}, std::nullopt, failback, start) == std::nullopt);
}

TEST_CASE("Failover returns to an earlier endpoint when that has been usable for the time of failback, and not before")
{
    auto all = endpoints(3);
    all[0].usable_since = start + 1h;
    CHECK(choose_failover(all, 2, failback, start + 1ms) == 2);
    CHECK(choose_failover(all, 2, failback, start + failback - 1ms) == 2);
    CHECK(choose_failover(all, 2, failback, start + failback) == 1);
    CHECK(choose_failover(all, 1, failback, start + 1h + failback - 1ms) == 1);
    CHECK(choose_failover(all, 1, failback, start + 1h + failback) == 0);
    // Nothing keeps a call where it cannot go.
    all[1].usable = false;
    CHECK(choose_failover(all, 1, failback, start) == 0);
    // One endpoint fewer than before.
    CHECK(choose_failover(all, 7, failback, start) == 0);
}

TEST_CASE("Spread takes the endpoint with fewer calls of any two, and never one that is not usable")
{
    auto all = endpoints(3);
    all[0].in_flight = 9;
    all[1].in_flight = 5;
    all[2].in_flight = 7;
    std::array<int, 3> chosen{};
    std::mt19937_64 dice{1};
    for (int i = 0; i < 3000; ++i) {
        const auto at = choose_spread(all, dice());
        REQUIRE(at.has_value());
        ++chosen[at.value_or(0)];
    }
    CHECK(chosen[0] == 0);    // of any two, the other one has fewer
    CHECK(chosen[1] > 1800);  // in two pairs of three
    CHECK(chosen[2] > 800);   // in one
    all[1].usable = false;
    for (int i = 0; i < 100; ++i) {
        CHECK(choose_spread(all, dice()) == 2);
    }
    all[2].usable = false;
    CHECK(choose_spread(all, dice()) == 0);
    all[0].usable = false;
    CHECK(choose_spread(all, dice()) == std::nullopt);
    CHECK(choose_spread({}, 0) == std::nullopt);
}

TEST_CASE("A caller keeps its endpoint, callers are spread, and only those of an endpoint that fails move")
{
    auto all = endpoints(4);
    std::array<int, 4> callers{};
    std::vector<std::size_t> before;
    for (std::uint64_t caller = 0; caller < 4000; ++caller) {
        const auto at = choose_by_caller(all, caller);
        REQUIRE(at.has_value());
        before.push_back(at.value_or(0));
        ++callers[before.back()];
        CHECK(choose_by_caller(all, caller) == at);
    }
    for (const int count : callers) {
        CHECK(count > 800);
        CHECK(count < 1200);
    }
    all[1].usable = false;
    for (std::uint64_t caller = 0; caller < 4000; ++caller) {
        const auto at = choose_by_caller(all, caller);
        CHECK(at != 1);
        if (before[caller] != 1) {
            CHECK(at == before[caller]);
        }
    }
    for (auto& each : all) {
        each.usable = false;
    }
    CHECK(choose_by_caller(all, 1) == std::nullopt);
}

TEST_SUITE_END();
