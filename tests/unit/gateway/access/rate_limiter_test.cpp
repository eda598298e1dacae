#include "gateway/access/rate_limiter.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using gateway::access::rate_limiter;
using gateway::access::token_buckets;

const core::steady_time start{1h};

std::shared_ptr<rate_limiter> of_principals(std::uint64_t rate, std::uint64_t burst = 0)
{
    return rate_limiter::make({.principal = {.rate = rate, .burst = burst}, .agent = {}, .address = {}});
}

// How many requests of the principal are admitted now.
std::uint64_t admitted(rate_limiter& limiter, const std::string& id, core::steady_time now)
{
    std::uint64_t count = 0;
    while (count < 10'000 && limiter.admits_principal(id, "keys", now)) {
        ++count;
    }
    return count;
}

TEST_SUITE("rate limiter")
{
    TEST_CASE("Without a limit there is none to ask")
    {
        CHECK(rate_limiter::make({}) == nullptr);
    }

    TEST_CASE("A burst comes at once, then as many as the rate says")
    {
        const auto limiter = of_principals(50, 100);
        CHECK(admitted(*limiter, "a", start) == 100);
        CHECK(admitted(*limiter, "a", start + 19ms) == 0);
        CHECK(admitted(*limiter, "a", start + 20ms) == 1);
        CHECK(admitted(*limiter, "a", start + 1020ms) == 50);
        CHECK(admitted(*limiter, "a", start + 1h) == 100);
    }

    TEST_CASE("The burst is as large as the rate unless it is given, and may be smaller")
    {
        CHECK(admitted(*of_principals(7), "a", start) == 7);
        CHECK(admitted(*of_principals(1), "a", start) == 1);
        CHECK(admitted(*of_principals(1000, 1), "a", start) == 1);
        CHECK(admitted(*of_principals(1, 1000), "a", start) == 1000);
    }

    TEST_CASE("Each of several replicas admits its part of rate and burst, rounded up, if the limits are divided")
    {
        const auto part_of_three = [](std::uint64_t rate, std::uint64_t burst, bool divide) {
            return rate_limiter::make(
                {.principal = {rate, burst}, .agent = {}, .address = {rate, burst}, .divide = divide},
                3
            );
        };
        const std::uint64_t rows[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {6, 2}, {7, 3}, {1'000'000, 333'334}};
        for (const auto& [whole, part] : rows) {
            CAPTURE(whole);
            CHECK(part_of_three(whole, 0, true)->rate(gateway::model::rate_limit::principal) == part);
            CHECK(part_of_three(whole, 0, true)->rate(gateway::model::rate_limit::address) == part);
            CHECK(part_of_three(whole, 0, true)->rate(gateway::model::rate_limit::agent) == 0);
            CHECK(part_of_three(whole, 0, false)->rate(gateway::model::rate_limit::principal) == whole);
            CHECK(
                rate_limiter::make({.principal = {whole}, .agent = {}, .address = {}, .divide = true}, 1)
                    ->rate(gateway::model::rate_limit::principal) == whole
            );
        }
        CHECK(admitted(*part_of_three(100, 7, true), "a", start) == 3);
        CHECK(admitted(*part_of_three(7, 0, true), "a", start) == 3);
        CHECK(admitted(*part_of_three(7, 0, false), "a", start) == 7);
    }

    TEST_CASE("Refused requests cost nothing: whoever floods gets its rate")
    {
        const auto limiter = of_principals(10);
        std::uint64_t count = 0;
        for (auto now = start; now < start + 10s; now += 1ms) {
            count += admitted(*limiter, "flood", now);
        }
        CHECK(count == 10 + 99);  // the burst, then one each 100 ms
    }

    TEST_CASE("A flood of one principal leaves all others untouched")
    {
        const auto limiter = of_principals(10);
        for (auto now = start; now < start + 1s; now += 10ms) {
            static_cast<void>(admitted(*limiter, "flood", now));
        }
        for (int i = 0; i < 10'000; ++i) {
            CHECK(admitted(*limiter, std::to_string(i), start + 1s) == 10);
        }
    }

    TEST_CASE("Principals are apart by their provider, agents by their id, addresses by their IPv6 network")
    {
        const auto limiter = rate_limiter::make({.principal = {1, 1}, .agent = {1, 1}, .address = {1, 1}});
        CHECK(limiter->admits_principal("a", "x", start));
        CHECK(limiter->admits_principal("a", "y", start));
        CHECK_FALSE(limiter->admits_principal("a", "x", start));
        CHECK(limiter->admits_agent("a", start));
        CHECK(limiter->admits_agent("b", start));
        CHECK_FALSE(limiter->admits_agent("a", start));
        CHECK(limiter->admits_address("192.0.2.1", start));
        CHECK(limiter->admits_address("192.0.2.2", start));
        CHECK_FALSE(limiter->admits_address("192.0.2.1", start));
        CHECK(limiter->admits_address("2001:db8::1", start));
        CHECK_FALSE(limiter->admits_address("2001:db8::2", start));
        CHECK(limiter->admits_address("2001:db8:0:1::1", start));
        CHECK(limiter->rate(gateway::model::rate_limit::agent) == 1);
    }

    TEST_CASE("What is not limited is always admitted")
    {
        const auto limiter = of_principals(1);
        for (int i = 0; i < 10; ++i) {
            CHECK(limiter->admits_agent("a", start));
            CHECK(limiter->admits_address("192.0.2.1", start));
        }
    }

    TEST_CASE("All workers together admit no more than one would")
    {
        constexpr std::uint64_t rate = 1000;
        const auto limiter = of_principals(rate);
        std::atomic<std::uint64_t> count{0};
        std::vector<std::thread> workers;
        for (int worker = 0; worker < 4; ++worker) {
            workers.emplace_back([&] {
                for (auto now = start; now <= start + 1s; now += 100us) {
                    count += limiter->admits_principal("a", "keys", now) ? 1 : 0;
                    count += limiter->admits_principal("a", "keys", now) ? 1 : 0;
                }
            });
        }
        for (auto& each : workers) {
            each.join();
        }
        // The burst and a second's worth: 80,000 were asked for.
        CHECK(count <= 2 * rate);
        CHECK(count >= 2 * rate * 99 / 100);
    }

    TEST_CASE("An IPv4 address counts as one in whatever way it is written, and an IPv6 address with its /64")
    {
        const auto limiter =
            gateway::access::rate_limiter::make({.principal = {}, .agent = {}, .address = {.rate = 1, .burst = 1}});
        CHECK(limiter->admits_address("4.4.4.4", start));
        CHECK_FALSE(limiter->admits_address("::ffff:4.4.4.4", start));
        CHECK_FALSE(limiter->admits_address("::FFFF:0404:0404", start));
        CHECK_FALSE(limiter->admits_address("0:0:0:0:0:ffff:404:404", start));
        CHECK(limiter->admits_address("4.4.4.5", start));
        CHECK(limiter->admits_address("::ffff:4.4.4.6", start));
        CHECK_FALSE(limiter->admits_address("4.4.4.6", start));
        CHECK(limiter->admits_address("2001:db8::1", start));
        CHECK_FALSE(limiter->admits_address("2001:db8::2", start));
        CHECK(limiter->admits_address("2001:db8:0:1::1", start));
    }

    TEST_CASE("More names than there are buckets find room, and the flood's own bucket stays empty meanwhile")
    {
        token_buckets buckets{{.rate = 1, .burst = 1}};
        const core::keyed_hash hash;
        std::uint64_t early = 0;
        for (std::size_t i = 0; i < token_buckets::most / 8; ++i) {
            CHECK(buckets.take(hash(std::to_string(i), {}), start));
        }
        for (std::size_t i = 0; i < token_buckets::most / 8; ++i) {
            early += buckets.take(hash(std::to_string(i), {}), start + 500ms) ? 1 : 0;
        }
        // Five names or more are in one row of four: 2.8 of the 16,384 rows on average, more than 20 once in 10^11 runs.
        CHECK(early < 20 * 6);
        for (std::size_t i = 0; i < 2 * token_buckets::most; ++i) {
            REQUIRE(buckets.take(hash("other", std::to_string(i)), start));
        }
    }
}

}  // namespace
