#include "gateway/management/health_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/health_order");

namespace {

using namespace std::chrono_literals;
using core::json;
using gateway::management::health;
using gateway::management::health_order;
using gateway::management::health_ranking;
using gateway::management::read_wishes;
using gateway::management::recent_calls;
using names = std::vector<std::string>;

struct agent {
    std::string id;
    health status;
    recent_calls calls;
};

const std::vector<agent>& agents()
{
    static const std::vector<agent> all{
        {"busy", health::healthy, {.calls_per_minute = 90, .failed_ratio = 0, .p50_ms = 1, .p99_ms = 2}},
        {"down", health::unhealthy, {.calls_per_minute = 3, .failed_ratio = 1}},
        {"down-too", health::unhealthy, {.calls_per_minute = 4, .failed_ratio = 1}},
        {"idle", health::healthy, {}},
        {"idle-too", health::healthy, {}},
        {"lazy", health::unknown, {}},
        {"slow", health::degraded, {.calls_per_minute = 5, .failed_ratio = 0.1, .p50_ms = 10, .p99_ms = 20}},
    };
    return all;
}

names in_order(health_order order, std::size_t most)
{
    health_ranking ranking{order, most};
    for (auto each = agents().rbegin(); each != agents().rend(); ++each) {
        ranking.add(each->id, each->status, each->calls);
    }
    return std::move(ranking).take();
}

std::vector<std::string> wrong(const json& params)
{
    std::vector<config::problem> problems;
    read_wishes(params, problems);
    names keys;
    for (const auto& each : problems) {
        keys.push_back(each.key);
    }
    return keys;
}

}  // namespace

TEST_CASE("Trouble comes first by status, then by failed calls, then by calls")
{
    CHECK(
        in_order(health_order::trouble, 100) == names{"down-too", "down", "slow", "lazy", "busy", "idle", "idle-too"}
    );
}

TEST_CASE("Calls, failed calls and percentiles put the largest first, and agents without any last")
{
    CHECK(in_order(health_order::calls, 100) == names{"busy", "slow", "down-too", "down", "idle", "idle-too", "lazy"});
    CHECK(in_order(health_order::failed, 100) == names{"down-too", "down", "slow", "busy", "idle", "idle-too", "lazy"});
    CHECK(in_order(health_order::p99, 3) == names{"slow", "busy", "down"});
}

TEST_CASE("Only the first agents are kept, as many as wanted")
{
    const auto all = in_order(health_order::trouble, 7);
    for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{6}, std::size_t{7}, std::size_t{8}}) {
        const auto some = in_order(health_order::trouble, most);
        CHECK(some.size() == std::min<std::size_t>(most, 7));
        CHECK(std::equal(some.begin(), some.end(), all.begin()));
    }
}

TEST_CASE("An order and the wish for numbers are read, and what cannot be read is named")
{
    std::vector<config::problem> problems;
    CHECK(read_wishes(json::object(), problems).order == health_order::id);
    CHECK_FALSE(read_wishes(json::object(), problems).stats);
    const auto wishes = read_wishes({{"sort", "p99"}, {"stats", true}}, problems);
    CHECK(wishes.order == health_order::p99);
    CHECK(wishes.stats);
    CHECK(read_wishes({{"sort", nullptr}, {"stats", nullptr}}, problems).order == health_order::id);
    CHECK(problems.empty());
    CHECK(wrong({{"sort", "P99"}}) == names{"sort"});
    CHECK(wrong({{"sort", 7}, {"stats", 1}}) == names{"sort", "stats"});
    CHECK(wrong({{"sort", "calls"}, {"after", "a"}}) == names{"after"});
    CHECK(wrong({{"sort", "id"}, {"after", "a"}}).empty());
}

TEST_CASE("Numbers of calls that do not exist are null")
{
    gateway::management::call_history history{1, core::steady_time{100s}, core::wall_time{}};
    json record = json::object();
    gateway::management::add_stats(record, history, "a", core::steady_time{100s} + 5min);
    CHECK(record["calls_per_minute"] == 0);
    CHECK(record["failed_ratio"].is_null());
    CHECK(record["p50_ms"].is_null());
    CHECK(record["p99_ms"].is_null());
    CHECK(record["spark"] == json(std::vector<int>(60, 0)));
    const gateway::management::call_history none{0, core::steady_time{100s}, core::wall_time{}};
    gateway::management::add_stats(record, none, "a", core::steady_time{100s} + 5min);
    CHECK(record["calls_per_minute"].is_null());
}

TEST_SUITE_END();
