#include "gateway/access/failure_limit.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using gateway::access::failure_limit;

const core::steady_time start{1h};

// How many failures of the address are allowed now.
unsigned allowed(failure_limit& limit, const std::string& address, core::steady_time now)
{
    unsigned count = 0;
    while (limit.allows(address, now) && count < 1000) {
        limit.note_failure(address, now);
        ++count;
    }
    return count;
}

TEST_SUITE("failure limit")
{
    TEST_CASE("So many credentials of an address may fail in a second, and as many in the next")
    {
        failure_limit limit{10, 1};
        CHECK(allowed(limit, "192.0.2.1", start) == 10);
        CHECK(allowed(limit, "192.0.2.1", start + 999ms) == 0);
        CHECK(allowed(limit, "192.0.2.1", start + 1s) == 10);
        failure_limit strict{1, 1};
        CHECK(allowed(strict, "192.0.2.1", start) == 1);
    }

    TEST_CASE("What a loop counts whose clock is behind counts for the second that others are in")
    {
        failure_limit limit{10, 1};
        CHECK(allowed(limit, "192.0.2.1", start + 1s) == 10);
        CHECK_FALSE(limit.allows("192.0.2.1", start + 999ms));
        limit.note_failure("192.0.2.1", start + 999ms);
        CHECK_FALSE(limit.allows("192.0.2.1", start + 1s));
        CHECK(allowed(limit, "192.0.2.1", start + 2s) == 10);
    }

    TEST_CASE("No failure is lost that several threads count")
    {
        failure_limit limit{40'000, 1};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int j = 0; j < 9'999; ++j) {
                    limit.note_failure("192.0.2.1", start);
                }
            });
        }
        for (auto& each : threads) {
            each.join();
        }
        for (int i = 0; i < 4; ++i) {
            CHECK(limit.allows("192.0.2.1", start));
            limit.note_failure("192.0.2.1", start);
        }
        CHECK_FALSE(limit.allows("192.0.2.1", start));
    }

    TEST_CASE("However many addresses fail, no other one notices")
    {
        failure_limit limit{10, 7};
        const auto address = [](unsigned network, unsigned i) {
            return "10." + std::to_string(network) + '.' + std::to_string(i / 250) + '.' + std::to_string(i % 250);
        };
        unsigned failed = 0;
        for (unsigned i = 0; i < 20'000; ++i) {
            failed += allowed(limit, address(1, i), start);
        }
        CHECK(failed == 200'000);
        unsigned free = 0;
        for (unsigned i = 0; i < 1000; ++i) {
            free += limit.allows(address(2, i), start) ? 1 : 0;
        }
        CHECK(free == 1000);
    }

    TEST_CASE(
        "Addresses that share a row are told apart while they have places, and then the one with fewest failures is "
        "forgotten"
    )
    {
        failure_limit limit{10, 7};
        std::vector<std::string> all;
        for (int i = 0; i < 250; ++i) {
            all.push_back("192.0.2." + std::to_string(i));
            CHECK(allowed(limit, all.back(), start) == 10);
        }
        // 250 in 1024 rows of four places: none is full.
        for (const auto& each : all) {
            CHECK_FALSE(limit.allows(each, start));
            CHECK(limit.allows(each, start + 1s));
        }
        unsigned kept = 0;
        for (unsigned i = 0; i < 60'000; ++i) {
            const auto once = "10.7." + std::to_string(i / 250) + '.' + std::to_string(i % 250);
            limit.note_failure(once, start);
        }
        for (const auto& each : all) {
            kept += limit.allows(each, start) ? 0 : 1;
        }
        CHECK(kept == 250);
    }

    TEST_CASE("The addresses of an IPv6 network are one, and an IPv4 address is the same in IPv6")
    {
        failure_limit limit{10, 1};
        CHECK(allowed(limit, "2001:db8::1", start) == 10);
        CHECK_FALSE(limit.allows("2001:db8::ffff:1", start));
        CHECK(limit.allows("2001:db8:0:1::1", start));
        CHECK(allowed(limit, "192.0.2.1", start) == 10);
        CHECK_FALSE(limit.allows("::ffff:192.0.2.1", start));
    }

    TEST_CASE("So many questions about credentials of an address are under way at a time")
    {
        failure_limit limit{10, 1};
        std::vector<std::unique_ptr<failure_limit::question>> asked;
        while (limit.allows("192.0.2.1", start) && asked.size() < 1000) {
            asked.push_back(std::make_unique<failure_limit::question>(limit, "192.0.2.1"));
        }
        CHECK(asked.size() == failure_limit::questions);
        CHECK(limit.allows("192.0.2.77", start));
        asked.pop_back();
        CHECK(limit.allows("192.0.2.1", start));
    }
}

}  // namespace
