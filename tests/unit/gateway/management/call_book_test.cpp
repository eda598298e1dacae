#include "gateway/management/call_book.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

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
    x.book.add({{"a", 3, 3, 0}, {"b", 1, 0, 1}}, start);
    CHECK(x.facts("a").empty());
    CHECK(x.facts("b") == "worked ");
    x.book.add({{"a", 2, 1, 1}}, start);
    CHECK(x.facts("a") == "worked failing");
    CHECK(x.facts("b") == "worked ");
    CHECK(x.facts("a", start + 5min) == "worked ");
}

TEST_CASE("of an agent that is gone nothing is known, and an agent with another address begins again")
{
    kept x;
    x.book.add({{"a", 9, 8, 1}, {"ghost", 9, 9, 0}}, start);
    CHECK(x.facts("a") == "worked failing");
    CHECK(x.facts("ghost").empty());
    x.addresses["ghost"] = "http://ghost/";
    CHECK(x.facts("ghost").empty());
    x.addresses["a"] = "http://elsewhere/";
    CHECK(x.facts("a").empty());
    x.book.add({{"a", 4, 4, 0}}, start);
    CHECK(x.facts("a").empty());
    x.book.add({{"a", 1, 1, 0}}, start);
    CHECK(x.facts("a") == "failing");
    x.addresses.erase("a");
    CHECK(x.facts("a").empty());
}

TEST_CASE("an agent has worked once a call succeeded, not when all that it answered were errors")
{
    kept x;
    x.book.add({{"a", 9, 0, 0}}, start);
    CHECK(x.facts("a").empty());
    x.book.add({{"a", 9, 0, 1}}, start);
    CHECK(x.facts("a") == "worked ");
}

TEST_CASE("of many agents that are gone a few are dropped at a time, and all of them in the end")
{
    kept x;
    constexpr int many = 5'000;
    std::vector<gateway::model::call_note> notes;
    for (int i = 0; i < many; ++i) {
        const auto id = "agent" + std::to_string(i);
        x.addresses[id] = "http://many/";
        notes.push_back({id, 1, 0, 1});
    }
    x.book.add(notes, start);
    const auto known = [&] {
        int count = 0;
        for (const auto& each : notes) {
            count += x.facts(each.agent).empty() ? 0 : 1;
        }
        return count;
    };
    CHECK(known() == many);
    const auto there = x.addresses;
    const auto gone = std::map<std::string, std::string>{{"b", "http://b/"}};
    // The agents come back only to be asked about: while they are gone nothing is told of them in any case.
    const auto left_after = [&](int rounds) {
        x.addresses = gone;
        for (int i = 0; i < rounds; ++i) {
            x.book.add({{"b", 1, 0, 1}}, start);
        }
        x.addresses = there;
        return known();
    };
    const auto after_one = left_after(1);
    CHECK(after_one < many);
    CHECK(after_one > many / 2);
    CHECK(left_after(1'000) == 0);
    CHECK(x.facts("b") == "worked ");
}

TEST_CASE("what was known of an agent that is gone is dropped in time, so that one that comes back begins again")
{
    kept x;
    x.book.add({{"a", 5, 4, 1}}, start);
    const auto address = x.addresses.extract("a");
    x.book.add({{"b", 1, 0, 1}}, start + 5min);
    x.addresses["a"] = address.mapped();
    CHECK(x.facts("a", start + 5min).empty());
    CHECK(x.facts("b", start + 5min) == "worked ");
}

TEST_SUITE_END();
