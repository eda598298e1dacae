#include "gateway/management/call_book.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>

TEST_SUITE_BEGIN("gateway/call_book");

namespace {

using namespace std::chrono_literals;

constexpr core::steady_time start{6'000s};

struct kept {
    std::map<std::string, std::string> addresses{{"a", "http://a/"}, {"b", "http://b/"}};
    gateway::management::call_book book{[this](const std::string& id) -> const std::string* {
        const auto found = addresses.find(id);
        return found == addresses.end() ? nullptr : &found->second;
    }};

    // `worked`, `failing`, both or neither, as words.
    std::string facts(const std::string& id, core::steady_time now = start) const
    {
        const auto known = book.facts(id, now);
        return std::string{known.worked ? "worked " : ""} + (known.failing ? "failing" : "");
    }
};

}  // namespace

TEST_CASE("the notes of all workers are counted together, and those of each agent apart")
{
    kept x;
    CHECK(x.facts("a").empty());
    x.book.add({{"a", 3, 3}, {"b", 1, 0}}, start);
    CHECK(x.facts("a").empty());
    CHECK(x.facts("b") == "worked ");
    x.book.add({{"a", 2, 1}}, start);
    CHECK(x.facts("a") == "worked failing");
    CHECK(x.facts("b") == "worked ");
    CHECK(x.facts("a", start + 5min) == "worked ");
}

TEST_CASE("of an agent that is gone nothing is known, and an agent with another address begins again")
{
    kept x;
    x.book.add({{"a", 9, 8}, {"ghost", 9, 9}}, start);
    CHECK(x.facts("a") == "worked failing");
    CHECK(x.facts("ghost").empty());
    x.addresses["ghost"] = "http://ghost/";
    CHECK(x.facts("ghost").empty());
    x.addresses["a"] = "http://elsewhere/";
    CHECK(x.facts("a").empty());
    x.book.add({{"a", 4, 4}}, start);
    CHECK(x.facts("a").empty());
    x.book.add({{"a", 1, 1}}, start);
    CHECK(x.facts("a") == "failing");
    x.addresses.erase("a");
    CHECK(x.facts("a").empty());
}

TEST_CASE("what was known of an agent that is gone is dropped in time, so that one that comes back begins again")
{
    kept x;
    x.book.add({{"a", 5, 4}}, start);
    const auto address = x.addresses.extract("a");
    x.book.add({{"b", 1, 0}}, start + 5min);
    x.addresses["a"] = address.mapped();
    CHECK(x.facts("a", start + 5min).empty());
    CHECK(x.facts("b", start + 5min) == "worked ");
}

TEST_SUITE_END();
