#include "core/place_shares.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("core/place shares");

namespace {

using core::caller_mark;
using core::half_of;
using core::place_share;
using core::place_shares;

const caller_mark a = core::mark_of_principal("p", "a");
const caller_mark b = core::mark_of_principal("p", "b");

std::unique_ptr<place_shares> new_table()
{
    return std::make_unique<place_shares>();
}

}  // namespace

TEST_CASE("Half of the places is rounded down, and one place may be anybody's")
{
    CHECK(half_of(0) == 1);
    CHECK(half_of(1) == 1);
    CHECK(half_of(2) == 1);
    CHECK(half_of(3) == 1);
    CHECK(half_of(4) == 2);
    CHECK(half_of(256) == 128);
}

TEST_CASE("Marks tell principals, addresses and nobody apart")
{
    CHECK(core::mark_of_principal("", "") == 0);
    CHECK(a % 2 == 1);
    CHECK(a == core::mark_of_principal("p", "a"));
    CHECK(a != b);
    CHECK(core::mark_of_principal("pa", "") != a);
    CHECK(core::mark_of_address(7) % 2 == 0);
    CHECK(core::mark_of_address(7) == core::mark_of_address(7));
    CHECK(core::mark_of_address(7) != core::mark_of_address(8));
}

TEST_CASE("A principal gets as many places as it may, not one more, and one again for each that it gives back")
{
    const auto table = new_table();
    std::vector<place_share> held;
    for (std::uint64_t i = 1; i <= 3; ++i) {
        auto got = table->take(1, a, 3);
        REQUIRE(got.has_value());
        held.push_back(std::move(*got));
        CHECK(table->count(1, a) == i);
    }
    CHECK_FALSE(table->take(1, a, 3).has_value());
    CHECK(table->count(1, a) == 3);
    held.pop_back();
    CHECK(table->count(1, a) == 2);
    CHECK(table->take(1, a, 3).has_value());
    held.clear();
    CHECK(table->count(1, a) == 0);
}

TEST_CASE("Places of another principal and of another kind are counted apart")
{
    const auto table = new_table();
    const auto held = table->take(1, a, 1);
    REQUIRE(held.has_value());
    CHECK_FALSE(table->take(1, a, 1).has_value());
    CHECK(table->take(1, b, 1).has_value());
    CHECK(table->take(2, a, 1).has_value());
    CHECK(place_shares::of_object(&table) != place_shares::of_object(&table, "x"));
    CHECK(place_shares::of_object(&table, "x") != place_shares::of_object(&table, "y"));
}

TEST_CASE("Callers without a credential are not counted")
{
    const auto table = new_table();
    std::vector<place_share> held;
    for (const caller_mark whose : {caller_mark{0}, core::mark_of_address(7)}) {
        for (int i = 0; i < 10; ++i) {
            auto got = table->take(1, whose, 1);
            REQUIRE(got.has_value());
            held.push_back(std::move(*got));
        }
        CHECK(table->count(1, whose) == 0);
    }
}

TEST_CASE("Several places are taken at once or not at all")
{
    const auto table = new_table();
    auto held = table->take(1, a, 10, 7);
    REQUIRE(held.has_value());
    CHECK_FALSE(table->take(1, a, 10, 4).has_value());
    CHECK(table->take(1, a, 10, 3).has_value());
    CHECK_FALSE(table->take(1, b, 10, 11).has_value());
    CHECK(table->count(1, a) == 7);
    held->give_back();
    held->give_back();
    CHECK(table->count(1, a) == 0);
}

TEST_CASE("A share that is moved is given back once, and a lower limit gives none until enough are back")
{
    const auto table = new_table();
    auto first = table->take(1, a, 2);
    auto second = table->take(1, a, 2);
    REQUIRE(second.has_value());
    place_share moved{std::move(*first)};
    first.reset();
    CHECK(table->count(1, a) == 2);
    CHECK_FALSE(table->take(1, a, 1).has_value());
    moved = std::move(*second);
    second.reset();
    CHECK(table->count(1, a) == 1);
    CHECK_FALSE(table->take(1, a, 1).has_value());
    moved.give_back();
    CHECK(table->take(1, a, 1).has_value());
}

TEST_CASE("Beyond the holders that there is room for places are not counted, and the table is empty again at the end")
{
    const auto table = new_table();
    constexpr std::uint64_t kinds = 2 * place_shares::most_holders;
    std::vector<place_share> held;
    std::uint64_t uncounted = 0;
    for (std::uint64_t i = 0; i < kinds; ++i) {
        auto got = table->take(i, a, 1);
        REQUIRE(got.has_value());
        held.push_back(std::move(*got));
        uncounted += table->count(i, a) == 0 ? 1 : 0;
    }
    CHECK(uncounted >= kinds - place_shares::most_holders);
    held.clear();
    for (std::uint64_t i = 0; i < kinds; ++i) {
        REQUIRE(table->count(i, a) == 0);
        REQUIRE(table->take(i, a, 1).has_value());
    }
}

TEST_CASE("With many threads no principal ever holds one place too many, and none is lost")
{
    constexpr int threads = 4;
    constexpr std::uint64_t most = 2;
    const auto table = new_table();
    std::array<std::atomic<int>, 2> inside{};
    std::atomic<int> over{0};
    std::atomic<int> got{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&] {
            for (int turn = 0; turn < 50'000; ++turn) {
                const auto which = static_cast<std::size_t>(turn % 2);
                auto share = table->take(1, which == 0 ? a : b, most);
                if (!share) {
                    continue;
                }
                over += ++inside[which] > static_cast<int>(most) ? 1 : 0;
                ++got;
                --inside[which];
            }
        });
    }
    for (auto& each : all) {
        each.join();
    }
    CHECK(over == 0);
    CHECK(got > 0);
    CHECK(table->count(1, a) == 0);
    CHECK(table->count(1, b) == 0);
}

TEST_SUITE_END();
