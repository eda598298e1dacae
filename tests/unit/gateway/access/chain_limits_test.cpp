#include "gateway/access/chain_limits.hpp"

#include "gateway/telemetry/metric_family.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using gateway::access::chain_limits;
using gateway::access::chain_places;
using limit = chain_limits::limit;

const core::steady_time start{1h};

config::chain_settings settings(std::uint64_t in_flight, std::uint64_t calls = 0, core::duration window = 10min)
{
    config::chain_settings out;
    out.in_flight = in_flight;
    out.calls = calls;
    out.window = window;
    return out;
}

// Enters until the chain is over a limit; what entered stays in flight.
std::size_t entered(chain_limits& chains, chain_limits::name chain, std::size_t most, core::steady_time now = start)
{
    std::size_t count = 0;
    while (count < most && !chains.enter(chain, now).over) {
        ++count;
    }
    return count;
}

// Calls that begin and end, one after the other.
std::size_t passed(chain_limits& chains, chain_limits::name chain, std::size_t most, core::steady_time now)
{
    std::size_t count = 0;
    for (; count < most; ++count) {
        const auto one = chains.enter(chain, now);
        if (one.over) {
            CHECK(one.over == limit::calls);
            break;
        }
        chains.leave(one.at);
    }
    return count;
}

TEST_SUITE("chain limits")
{
    TEST_CASE("A chain has as many calls in flight as the limit says, and another one has its own")
    {
        chain_limits chains{settings(3), start};
        const auto one = chains.name_of_context("one");
        const auto other = chains.name_of_context("other");
        const auto first = chains.enter(one, start);
        CHECK(entered(chains, one, 10) == 2);
        CHECK(chains.enter(one, start).over == limit::in_flight);
        CHECK(entered(chains, other, 10) == 3);
        chains.leave(first.at);
        CHECK(entered(chains, one, 10) == 1);
    }

    TEST_CASE("A trace and a context with the same bytes are two chains")
    {
        chain_limits chains{settings(1), start};
        const core::trace_id trace{0x6161616161616161, 0x6161616161616161};
        CHECK(entered(chains, chains.name_of(trace), 5) == 1);
        CHECK(entered(chains, chains.name_of_context("aaaaaaaaaaaaaaaa"), 5) == 1);
        CHECK(chains.name_of(trace) != chains.name_of({trace.high, trace.low + 1}));
    }

    TEST_CASE("A window has as many calls as the limit says, from its first call on")
    {
        chain_limits chains{settings(0, 4, 10s), start};
        const auto chain = chains.name_of_context("c");
        CHECK(passed(chains, chain, 3, start) == 3);
        CHECK(passed(chains, chain, 2, start + 9s) == 1);
        CHECK(passed(chains, chain, 2, start + 9900ms) == 0);
        CHECK(passed(chains, chain, 10, start + 10s) == 4);
        CHECK(passed(chains, chain, 10, start + 19s) == 0);
        CHECK(passed(chains, chain, 10, start + 48h) == 4);
    }

    TEST_CASE("A thread whose clock is a little behind does not begin the window again")
    {
        chain_limits chains{settings(0, 2, 10s), start};
        const auto chain = chains.name_of_context("c");
        CHECK(passed(chains, chain, 1, start + 5s) == 1);
        CHECK(passed(chains, chain, 5, start + 4800ms) == 1);
    }

    TEST_CASE("A refused call counts in no limit")
    {
        chain_limits chains{settings(2, 3, 10s), start};
        const auto chain = chains.name_of_context("c");
        const auto one = chains.enter(chain, start);
        const auto two = chains.enter(chain, start);
        for (int i = 0; i < 5; ++i) {
            CHECK(chains.enter(chain, start).over == limit::in_flight);
        }
        chains.leave(one.at);
        chains.leave(two.at);
        CHECK(passed(chains, chain, 5, start) == 1);
        CHECK(entered(chains, chain, 5, start + 10s) == 2);
    }

    TEST_CASE("Without limits nothing is active, and a reload changes that for chains that are there")
    {
        chain_limits chains{settings(0), start};
        CHECK_FALSE(chains.active());
        config::settings next;
        next.chains = settings(1);
        chains.apply(next, std::vector<std::string_view>{"limits.hops"});
        CHECK_FALSE(chains.active());
        chains.apply(next, std::vector<std::string_view>{"chains.in_flight"});
        CHECK(chains.active());
        const auto chain = chains.name_of_context("c");
        const auto first = chains.enter(chain, start);
        CHECK(chains.enter(chain, start).over == limit::in_flight);
        next.chains = settings(2);
        chains.apply(next, std::vector<std::string_view>{"chains.in_flight"});
        CHECK(entered(chains, chain, 5) == 1);
        next.chains = settings(0, 1);
        chains.apply(next, std::vector<std::string_view>{"chains.calls"});
        CHECK(chains.active());
        chains.leave(first.at);
    }

    TEST_CASE("16,384 chains in flight are tracked, one more passes and is counted, and none of them is evicted")
    {
        chain_limits chains{settings(1), start};
        std::vector<chain_limits::slot> held;
        for (std::size_t i = 0; i < chain_limits::most; ++i) {
            const auto one = chains.enter(chains.name_of_context(std::to_string(i)), start);
            REQUIRE_FALSE(one.over);
            held.push_back(one.at);
            CHECK((i + 1 < chain_limits::most || chains.untracked_calls() == 0));
        }
        std::ranges::sort(held);
        CHECK(std::ranges::adjacent_find(held) == held.end());
        for (int i = 0; i < 3; ++i) {
            const auto further = chains.enter(chains.name_of_context("further"), start);
            CHECK(further.at == chain_limits::untracked);
            CHECK_FALSE(further.over);
            chains.leave(further.at);
        }
        CHECK(chains.untracked_calls() == 3);
        for (std::size_t i = 0; i < chain_limits::most; ++i) {
            CHECK(chains.enter(chains.name_of_context(std::to_string(i)), start).over == limit::in_flight);
        }
        chains.leave(held.front());
        CHECK(chains.enter(chains.name_of_context("further"), start).at != chain_limits::untracked);
        CHECK(chains.untracked_calls() == 3);
    }

    TEST_CASE("Chains without calls in flight make room for others, the oldest first")
    {
        chain_limits chains{settings(0, 1, 24h), start};
        const auto kept = chains.name_of_context("kept");
        CHECK(passed(chains, kept, 2, start + 1h) == 1);
        for (std::size_t i = 0; i < 2 * chain_limits::most; ++i) {
            CHECK(passed(chains, chains.name_of_context(std::to_string(i)), 2, start) == 1);
        }
        CHECK(passed(chains, kept, 1, start + 2h) == 0);
        CHECK(chains.untracked_calls() == 0);
    }

    TEST_CASE("A chain with as many calls in flight as can be counted lets further ones pass untracked")
    {
        chain_limits chains{settings(0, 1'000'000'000), start};
        const auto chain = chains.name_of_context("c");
        CHECK(entered(chains, chain, chain_limits::most_in_flight) == chain_limits::most_in_flight);
        CHECK(chains.untracked_calls() == 0);
        CHECK(chains.enter(chain, start).at == chain_limits::untracked);
        CHECK(chains.untracked_calls() == 1);
    }

    TEST_CASE("Threads together never have more in flight than the limit, and leave nothing behind")
    {
        constexpr std::uint64_t most = 5;
        chain_limits chains{settings(most), start};
        const auto chain = chains.name_of_context("c");
        std::atomic<std::uint64_t> inside{0};
        std::atomic<std::uint64_t> largest{0};
        std::atomic<std::uint64_t> refused{0};
        const auto work = [&] {
            for (int i = 0; i < 20'000; ++i) {
                const auto one = chains.enter(chain, start);
                if (one.over) {
                    refused.fetch_add(1);
                    continue;
                }
                const auto now = inside.fetch_add(1) + 1;
                auto before = largest.load();
                while (now > before && !largest.compare_exchange_weak(before, now)) {
                }
                inside.fetch_sub(1);
                chains.leave(one.at);
            }
        };
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 8; ++i) {
                threads.emplace_back(work);
            }
        }
        CHECK(largest <= most);
        CHECK(entered(chains, chain, 10) == most);
    }

    TEST_CASE("Threads with many chains leave no chain in flight behind")
    {
        chain_limits chains{settings(3, 1'000'000), start};
        {
            std::vector<std::jthread> threads;
            for (int t = 0; t < 4; ++t) {
                threads.emplace_back([&chains, t] {
                    for (int i = 0; i < 20'000; ++i) {
                        const auto one =
                            chains.enter(chains.name_of_context(std::to_string((i * 7 + t) % 9'000)), start);
                        chains.leave(one.at);
                    }
                });
            }
        }
        std::size_t held = 0;
        while (chains.enter(chains.name_of_context("new " + std::to_string(held)), start).at != chain_limits::untracked
        ) {
            ++held;
        }
        CHECK(held == chain_limits::most);
    }

    TEST_CASE("A request counts in its trace and in its context, once in each, until it is over")
    {
        chain_limits chains{settings(1), start};
        const auto trace = chains.name_of(core::trace_id{1, 2});
        const auto context = chains.name_of_context("c");
        {
            chain_places places;
            CHECK_FALSE(places.enter(chains, {trace, context}, start));
            CHECK_FALSE(places.enter(chains, {trace, context}, start));
            CHECK(chains.enter(trace, start).over == limit::in_flight);
            CHECK(chains.enter(context, start).over == limit::in_flight);
        }
        chain_places same;
        CHECK_FALSE(same.enter(chains, {trace, trace}, start));
        CHECK(entered(chains, context, 5) == 1);
        chain_places none;
        CHECK_FALSE(none.enter(chains, {0, 0}, start));
    }

    TEST_CASE("A request that is refused for its context does not stay in its trace")
    {
        chain_limits chains{settings(1), start};
        const auto trace = chains.name_of(core::trace_id{1, 2});
        const auto context = chains.name_of_context("c");
        CHECK(entered(chains, context, 5) == 1);
        chain_places places;
        CHECK(places.enter(chains, {trace, context}, start) == limit::in_flight);
        CHECK(entered(chains, trace, 5) == 1);
    }

    TEST_CASE("One refusal a minute is to be logged")
    {
        chain_limits chains{settings(1), start};
        CHECK(chains.reports(start));
        CHECK_FALSE(chains.reports(start + 59s));
        CHECK(chains.reports(start + 60s));
        CHECK_FALSE(chains.reports(start + 60s));
    }

    TEST_CASE("The limits are named as data.limit has them")
    {
        CHECK(name(limit::in_flight) == "in_flight");
        CHECK(name(limit::calls) == "calls");
    }
}

}  // namespace
