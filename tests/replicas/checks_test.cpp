// The checkers of histories: they accept what sound replicas bring about, and see each thing that is wrong.
#include "tests/replicas/made_history.hpp"
#include "tests/replicas/register_check.hpp"
#include "tests/replicas/version_check.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>

TEST_SUITE_BEGIN("replicas/checks");

using namespace replicas;

namespace {

constexpr std::uint64_t histories = 100;

std::string all_of(const verdict& problems)
{
    std::string text;
    for (const auto& each : problems) {
        text += each + '\n';
    }
    return text;
}

}  // namespace

TEST_CASE("both checkers accept a hundred histories of sound replicas")
{
    std::size_t operations = 0;
    std::size_t unknown = 0;
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        CAPTURE(seed);
        const auto made = make_history(seed);
        operations += made.all.operations.size();
        for (const auto& each : made.all.operations) {
            unknown += each.came == outcome::unknown ? 1 : 0;
        }
        CHECK(all_of(check_versions(made.all)) == "");
        CHECK(all_of(check_registers(made.all)) == "");
    }
    MESSAGE(histories << " histories, " << operations << " operations, " << unknown << " of unknown outcome");
    CHECK(unknown > histories);
}

TEST_CASE("of each of a hundred histories both checkers refuse every mutation that they can see")
{
    std::array<std::size_t, mutations.size()> places{};
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        const auto sound = make_history(seed);
        for (const auto which : mutations) {
            auto changed = sound;
            if (!mutate(changed, which, random)) {
                continue;
            }
            const auto number = static_cast<std::size_t>(which);
            CAPTURE(number);
            ++places.at(number);
            CHECK_FALSE(check_versions(changed.all).empty());
            if (shows_without_versions(which)) {
                CHECK_FALSE(check_registers(changed.all).empty());
            }
        }
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        CAPTURE(i);
        CHECK(places.at(i) >= histories / 2);
    }
}

TEST_CASE("both checkers judge twenty seconds of ten clients on twenty ids")
{
    const auto made = make_history(7, {.length = 20'000'000});
    MESSAGE(made.all.operations.size() << " operations, " << made.all.trail.size() << " versions");
    CHECK(all_of(check_versions(made.all)) == "");
    CHECK(all_of(check_registers(made.all)) == "");
}

TEST_CASE("a write of unknown outcome may happen long after its caller has given up, but never before it began")
{
    history all;
    all.operations = {
        {.key = "a", .what = deed::write, .came = outcome::unknown, .text = "late", .invoked = 10},
        {.key = "a",
         .what = deed::write,
         .came = outcome::done,
         .text = "b",
         .version = 1,
         .invoked = 20,
         .returned = 30},
        {.key = "a",
         .what = deed::fresh_read,
         .came = outcome::done,
         .text = "late",
         .version = 2,
         .invoked = 90,
         .returned = 99},
    };
    all.trail = {{1, "created", "a"}, {2, "updated", "a"}};
    all.last = {{"a", {2, "late"}}};
    CHECK(all_of(check_versions(all)) == "");
    CHECK(all_of(check_registers(all)) == "");
    all.operations[0].invoked = 100;
    CHECK_FALSE(check_versions(all).empty());
    CHECK_FALSE(check_registers(all).empty());
}

TEST_CASE("a replica knows what it has acknowledged, unless that took longer than it waits for itself")
{
    history all;
    all.operations = {
        {.key = "a",
         .what = deed::write,
         .came = outcome::done,
         .text = "x",
         .version = 1,
         .invoked = 10,
         .returned = 30},
        {.key = "a", .what = deed::read, .came = outcome::done, .invoked = 40, .returned = 50},
    };
    all.trail = {{1, "created", "a"}};
    all.last = {{"a", {1, "x"}}};
    CHECK_FALSE(check_versions(all).empty());
    all.patience = 21;
    CHECK_FALSE(check_versions(all).empty());
    all.patience = 20;
    CHECK(all_of(check_versions(all)) == "");
    all.operations[1].what = deed::fresh_read;
    CHECK_FALSE(check_versions(all).empty());
}

TEST_CASE("a line that nobody saw is given to a write of unknown outcome, and to no other")
{
    history all;
    all.operations = {
        {.key = "a", .what = deed::write, .came = outcome::unknown, .text = "x", .invoked = 10},
        {.key = "a",
         .what = deed::write,
         .came = outcome::done,
         .text = "b",
         .version = 2,
         .invoked = 20,
         .returned = 30},
    };
    all.trail = {{1, "created", "a"}, {2, "updated", "a"}};
    all.last = {{"a", {2, "b"}}};
    CHECK(all_of(check_versions(all)) == "");
    all.operations[0].came = outcome::failed;
    CHECK_FALSE(check_versions(all).empty());
}

TEST_SUITE_END();
