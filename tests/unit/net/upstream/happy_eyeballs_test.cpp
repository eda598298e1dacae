#include "net/upstream/connect_race.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("net/upstream/happy_eyeballs");

namespace {

constexpr core::steady_time begin{1'000h};

// Addresses by one letter each: capitals are of IPv6.
net::address_list list(const std::string& letters)
{
    net::address_list out;
    for (const char each : letters) {
        const bool capital = each >= 'A' && each <= 'Z';
        out.push_back(boost::asio::ip::make_address(
            capital ? "2001:db8::" + std::to_string(each - 'A') : "192.0.2." + std::to_string(each - 'a')
        ));
    }
    return out;
}

}  // namespace

TEST_CASE("Families take turns, beginning with the family of the first address")
{
    struct row {
        std::string found;
        std::string expected;
    };
    const std::vector<row> rows{
        {"", ""},
        {"a", "a"},
        {"abc", "abc"},
        {"Aa", "Aa"},
        {"ABab", "AaBb"},
        {"abAB", "aAbB"},
        {"ABCa", "AaBC"},
        {"aABC", "aABC"},
        {"AabB", "AaBb"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.found);
        CHECK(net::in_turns(list(each.found), nullptr, begin) == list(each.expected));
    }
}

TEST_CASE("A family that failed goes last for ten minutes")
{
    struct row {
        bool v4_failed;
        bool v6_failed;
        core::duration later;
        std::string expected;
    };
    const std::vector<row> rows{
        {false, false, 0s, "AaBb"},
        {false, true, 0s, "abAB"},
        {true, false, 0s, "ABab"},
        {true, true, 0s, "AaBb"},
        {false, true, 10min - 1ms, "abAB"},
        {false, true, 10min, "AaBb"},
        {true, false, 10min, "AaBb"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.expected);
        net::family_history memory;
        if (each.v4_failed) {
            memory.note_failed(net::family::v4, begin);
        }
        if (each.v6_failed) {
            memory.note_failed(net::family::v6, begin);
        }
        CHECK(net::in_turns(list("ABab"), &memory, begin + each.later) == list(each.expected));
    }
    net::family_history mended;
    mended.note_failed(net::family::v6, begin);
    mended.note_worked(net::family::v6);
    CHECK(net::in_turns(list("ABab"), &mended, begin) == list("AaBb"));
}

TEST_CASE("The next attempt begins 250 ms after the one before")
{
    net::connect_plan plan{3};
    CHECK(plan.next(begin) == 0U);
    CHECK(plan.due() == begin + 250ms);
    CHECK_FALSE(plan.next(begin + 249ms));
    CHECK(plan.next(begin + 250ms) == 1U);
    CHECK_FALSE(plan.next(begin + 499ms));
    CHECK(plan.next(begin + 600ms) == 2U);
    CHECK(plan.due() == core::steady_time::max());
    CHECK_FALSE(plan.next(begin + 1h));
}

TEST_CASE("When the latest attempt fails the next one begins at once, and when an earlier one fails it waits")
{
    net::connect_plan plan{4};
    CHECK(plan.next(begin) == 0U);
    plan.failed(0);
    CHECK(plan.next(begin) == 1U);
    CHECK(plan.next(begin + 250ms) == 2U);
    plan.failed(1);
    CHECK_FALSE(plan.next(begin + 251ms));
    plan.failed(2);
    CHECK(plan.next(begin + 251ms) == 3U);
    CHECK_FALSE(plan.over());
    plan.failed(3);
    CHECK(plan.over());
}

TEST_SUITE_END();
