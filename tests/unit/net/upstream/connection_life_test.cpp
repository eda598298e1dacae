#include "net/upstream/connection_life.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <vector>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/upstream/connection_life");

namespace {

constexpr core::steady_time begin{1'000h};

}  // namespace

TEST_CASE("A connection ends at its age, which chance shortens by up to a fifth")
{
    struct row {
        double chance;
        core::duration age;
    };
    const std::vector<row> rows{{0, 10min}, {0.5, 9min}, {1, 8min}};
    for (const auto& each : rows) {
        CAPTURE(each.chance);
        net::connection_life life{{.keep = 1h, .max_age = 10min}, begin, each.chance};
        CHECK(life.usable(begin + each.age - 1ms));
        CHECK_FALSE(life.usable(begin + each.age));
        CHECK(life.rest(begin + each.age - 1ms, std::nullopt));
        CHECK_FALSE(life.rest(begin + each.age, std::nullopt));
    }
}

TEST_CASE("A connection carries as many requests as its limit says")
{
    for (const std::uint64_t limit : {1U, 2U, 10U}) {
        CAPTURE(limit);
        net::connection_life life{{.requests = limit}, begin, 0};
        for (std::uint64_t request = 1; request <= limit; ++request) {
            CAPTURE(request);
            CHECK(life.rest(begin, std::nullopt) == (request < limit));
        }
    }
}

TEST_CASE("An idle connection ends a second before the agent would end it, or when its own time is over")
{
    struct row {
        std::optional<std::chrono::seconds> announced;
        core::duration idle;
    };
    const std::vector<row> rows{
        {std::nullopt, 60s},
        {5s, 4s},
        {2s, 1s},
        {61s, 60s},
        {62s, 60s},
        {86400s, 60s},
    };
    for (const auto& each : rows) {
        CAPTURE(each.idle.count());
        net::connection_life life{{}, begin, 0};
        CHECK(life.rest(begin + 1s, each.announced));
        CHECK(life.usable(begin + 1s + each.idle - 1ms));
        CHECK_FALSE(life.usable(begin + 1s + each.idle));
    }
    for (const auto announced : {0s, 1s}) {
        net::connection_life life{{}, begin, 0};
        CHECK_FALSE(life.rest(begin, announced));
    }
}

TEST_CASE("What an agent announced once holds for the answers after it")
{
    net::connection_life life{{}, begin, 0};
    CHECK(life.rest(begin, 5s));
    CHECK(life.rest(begin + 3s, std::nullopt));
    CHECK(life.usable(begin + 7s - 1ms));
    CHECK_FALSE(life.usable(begin + 7s));
}

TEST_SUITE_END();
