#include "gateway/balancing/endpoint_group.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using gateway::balancing::health_verdict;

namespace {

// For each check, + passed and - failed: what the endpoint is then.
std::string after(std::string_view checks, const core::health_settings& settings)
{
    health_verdict verdict;
    std::string out;
    for (const char each : checks) {
        const auto changed = verdict.add(each == '+', settings);
        out += !changed ? '.' : *changed ? 'H' : 'U';
        if (changed) {
            CHECK(*changed == verdict.healthy());
        }
    }
    return out;
}

}  // namespace

TEST_CASE("An endpoint is unhealthy after so many failed checks in a row, and healthy after so many good ones")
{
    const core::health_settings usual;
    CHECK(after("+++", usual) == "...");
    CHECK(after("--", usual) == "..");
    CHECK(after("---", usual) == "..U");
    CHECK(after("--+--", usual) == ".....");
    CHECK(after("--+---", usual) == ".....U");
    CHECK(after("---+", usual) == "..U.");
    CHECK(after("---++", usual) == "..U.H");
    CHECK(after("---+-+", usual) == "..U...");
    CHECK(after("---+-++", usual) == "..U...H");
    CHECK(after("---++---", usual) == "..U.H..U");
}

TEST_CASE("One check is enough where one is asked for")
{
    const core::health_settings quick{.fail = 1, .pass = 1};
    CHECK(after("+-+-", quick) == ".UHU");
}
