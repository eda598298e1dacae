#include "gateway/balancing/endpoint_group.hpp"

#include "gateway/balancing/call_gate.hpp"
#include "gateway/balancing/shelves.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using core::balancing;
using gateway::balancing::breaker;
using gateway::balancing::breaker_state;
using gateway::balancing::call_end;
using gateway::balancing::endpoint_group;
using gateway::balancing::endpoint_mask;
using gateway::balancing::group_rules;
using gateway::balancing::reach_shelf;
using gateway::balancing::reach_terms;
using gateway::balancing::retry_ledger;

namespace {

const core::steady_time start{1h};

double no_jitter()
{
    return 0;
}

std::vector<endpoint_group::member> members(std::size_t count, const core::breaker_settings& settings = {})
{
    std::vector<endpoint_group::member> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back({std::make_shared<breaker>(settings, start, no_jitter), 1000 + i});
    }
    return all;
}

struct rig {
    explicit rig(std::size_t count, balancing how = balancing::failover, const core::breaker_settings& settings = {})
        : all{members(count, settings)},
          group{{how, 5min}, all, start}
    {
    }

    void end(std::size_t i, call_end how, core::steady_time now)
    {
        const auto permit = all[i].its_breaker->admit(now);
        REQUIRE(permit.has_value());
        if (permit) {
            all[i].its_breaker->ended(*permit, how, now, &group);
        }
    }

    void open(std::size_t i, core::steady_time now)
    {
        for (int n = 0; n < 5; ++n) {
            end(i, call_end::failed, now);
        }
        REQUIRE(all[i].its_breaker->state() == breaker_state::open);
    }

    std::optional<std::size_t> at(core::steady_time now, endpoint_mask tried = 0)
    {
        return group.choose({.now = now, .tried = tried});
    }

    std::vector<endpoint_group::member> all;
    endpoint_group group;
};

}  // namespace

TEST_CASE("Calls go to the first endpoint in written order, and to the next one while its breaker is open")
{
    rig x{3};
    CHECK(x.at(start) == 0);
    x.open(0, start);
    CHECK(x.at(start) == 1);
    x.open(1, start);
    CHECK(x.at(start) == 2);
    x.open(2, start);
    CHECK(x.at(start) == std::nullopt);
    CHECK(x.group.again_at(start) == start + 30s);
}

TEST_CASE("A call that has been at an endpoint goes to another one, and leads nobody else there")
{
    rig x{2};
    CHECK(x.at(start, 0b01) == 1);
    CHECK(x.at(start) == 0);
    CHECK(x.at(start, 0b11) == std::nullopt);
}

TEST_CASE("Calls return to an earlier endpoint when it has been usable for the whole failback, not before")
{
    rig x{2};
    x.open(0, start);
    CHECK(x.at(start) == 1);
    const auto cooled = start + 30s;
    CHECK(x.at(cooled) == 1);  // seen to be usable from here on
    CHECK(x.at(cooled + 5min - 1ms) == 1);
    CHECK(x.at(cooled + 5min) == 0);  // the trial
    CHECK(x.at(cooled + 5min) == 0);  // nobody has begun it
    const auto trial = x.all[0].its_breaker->admit(cooled + 5min);
    REQUIRE(trial.has_value());
    CHECK(x.at(cooled + 5min) == 1);
    if (trial) {
        x.all[0].its_breaker->ended(*trial, call_end::answered, cooled + 5min, &x.group);
    }
    CHECK(x.at(cooled + 5min) == 0);
    CHECK(x.at(cooled + 6min) == 0);
}

TEST_CASE("A trial that fails begins the failback again")
{
    rig x{2};
    x.open(0, start);
    CHECK(x.at(start) == 1);
    CHECK(x.at(start + 30s) == 1);
    const auto late = start + 30s + 5min;
    CHECK(x.at(late) == 0);
    x.end(0, call_end::failed, late);
    CHECK(x.at(late) == 1);
    CHECK(x.at(late + 1min) == 1);  // cooled for the second time
    CHECK(x.at(late + 6min - 1ms) == 1);
    CHECK(x.at(late + 6min) == 0);
}

TEST_CASE("An endpoint that checks call unhealthy gets no call, and one that is healthy again waits for the failback")
{
    rig x{2};
    x.group.set_healthy(0, false);
    CHECK(x.at(start) == 1);
    x.group.set_healthy(1, false);
    CHECK(x.at(start) == std::nullopt);
    x.group.set_healthy(1, true);
    x.group.set_healthy(0, true);
    CHECK(x.at(start + 1min) == 1);
    CHECK(x.at(start + 6min - 1ms) == 1);
    CHECK(x.at(start + 6min) == 0);
}

TEST_CASE("Of two endpoints the one with fewer calls in flight gets the next one")
{
    rig x{2, balancing::spread};
    x.group.began(0);
    CHECK(x.group.in_flight(0) == 1);
    for (const std::uint64_t dice : {0ULL, 1ULL, 0x1'0000'0000ULL, 0xffff'ffff'ffff'ffffULL}) {
        CHECK(x.group.choose({.now = start, .dice = dice}) == 1);
    }
    x.group.began(1);
    x.group.began(1);
    CHECK(x.group.choose({.now = start, .dice = 1}) == 0);
    x.group.ended(1);
    x.group.ended(1);
    CHECK(x.group.choose({.now = start, .dice = 1}) == 1);
}

TEST_CASE("A caller stays with its endpoint, and only those of an endpoint that is out move")
{
    rig x{4, balancing::caller};
    std::vector<std::size_t> before;
    for (std::uint64_t caller = 0; caller < 100; ++caller) {
        const auto chosen = x.group.choose({.now = start, .caller = caller});
        REQUIRE(chosen.has_value());
        before.push_back(chosen.value_or(9));
    }
    x.open(2, start);
    std::size_t moved = 0;
    for (std::uint64_t caller = 0; caller < 100; ++caller) {
        const auto chosen = x.group.choose({.now = start, .caller = caller}).value_or(9);
        CHECK(chosen != 2);
        CHECK((chosen == before[caller] || before[caller] == 2));
        moved += chosen != before[caller] ? 1 : 0;
    }
    CHECK(moved > 0);
}

TEST_CASE("By ratio at most half of the endpoints are ejected, by failures in a row all of them")
{
    struct row {
        std::size_t endpoints;
        std::size_t ejected;
    };
    for (const auto& [endpoints, ejected] : {row{1, 1}, row{2, 1}, row{3, 1}, row{4, 2}, row{5, 2}, row{32, 16}}) {
        CAPTURE(endpoints);
        rig x{endpoints, balancing::spread, {.failures = 1000}};
        for (std::size_t i = 0; i < endpoints; ++i) {
            for (int n = 0; n < 40 && x.all[i].its_breaker->state() == breaker_state::closed; ++n) {
                x.end(i, n % 2 == 0 ? call_end::answered : call_end::failed, start);
            }
        }
        std::size_t out = 0;
        for (const auto& each : x.all) {
            out += each.its_breaker->state() == breaker_state::open ? 1 : 0;
        }
        CHECK(out == ejected);
    }
    rig x{4, balancing::spread};
    for (std::size_t i = 0; i < 4; ++i) {
        x.open(i, start);
    }
    CHECK(x.at(start) == std::nullopt);
}

TEST_CASE("Threads that fail at once at all endpoints eject no more than half of them by ratio")
{
    for (int round = 0; round < 20; ++round) {
        rig x{4, balancing::spread, {.failures = 1'000'000}};
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < 4; ++i) {
            threads.emplace_back([&x, i] {
                for (int n = 0; n < 200; ++n) {
                    if (const auto permit = x.all[i].its_breaker->admit(start)) {
                        x.all[i].its_breaker->ended(*permit, call_end::failed, start, &x.group);
                    }
                }
            });
        }
        for (auto& each : threads) {
            each.join();
        }
        std::size_t out = 0;
        for (const auto& each : x.all) {
            out += each.its_breaker->state() == breaker_state::open ? 1 : 0;
        }
        CHECK(out == 2);
    }
}

TEST_CASE("Whoever describes an agent again gets what its calls know, unless it is another agent now")
{
    reach_shelf shelf;
    const auto both = members(2);
    const reach_terms terms{.rules = {balancing::failover, 5min}, .members = both};
    auto first = shelf.get("a", terms, start);
    REQUIRE(first->group != nullptr);
    CHECK(shelf.get("a", terms, start) == first);
    CHECK(shelf.get("b", terms, start) != first);
    auto other = terms;
    other.rules.balance = balancing::spread;
    CHECK(shelf.get("a", other, start) != first);
    other = terms;
    other.members = members(2);
    CHECK(shelf.get("a", other, start) != first);
}

TEST_CASE("Agents that are gone are forgotten")
{
    reach_shelf shelf;
    const auto one = members(1);
    for (int i = 0; i < 10'000; ++i) {
        shelf.get(std::to_string(i), {.rules = {}, .members = one}, start);
    }
    CHECK(shelf.size() < 200);
}

TEST_CASE("A ledger without a budget lets three calls a second be sent again, and then a share of those it has seen")
{
    retry_ledger ledger;
    ledger.add_call(start);  // nobody has asked yet
    for (int i = 0; i < 3; ++i) {
        CHECK(ledger.take(0.2, start));
    }
    CHECK_FALSE(ledger.take(0.2, start));
    for (int i = 0; i < 18; ++i) {  // the call that asked first counts too
        ledger.add_call(start);
    }
    CHECK_FALSE(ledger.take(0.2, start));
    ledger.add_call(start);
    CHECK(ledger.take(0.2, start));
    CHECK_FALSE(ledger.take(0.2, start));
}

TEST_CASE("Threads that ask a ledger first share one budget")
{
    for (int round = 0; round < 50; ++round) {
        retry_ledger ledger;
        std::atomic<int> taken{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] { taken += ledger.take(0, start) ? 1 : 0; });
        }
        for (auto& each : threads) {
            each.join();
        }
        CHECK(taken <= 3);
    }
}
