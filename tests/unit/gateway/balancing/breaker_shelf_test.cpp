#include "gateway/balancing/shelves.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using gateway::balancing::breaker_shelf;

namespace {

const core::steady_time start{1h};

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/breaker shelf");

TEST_CASE("An endpoint keeps its breaker as long as somebody has it and its settings are the same")
{
    breaker_shelf shelf;
    auto first = shelf.get("a", {}, start);
    CHECK(shelf.get("a", {}, start) == first);
    CHECK(shelf.get("b", {}, start) != first);
    const auto stricter = shelf.get("a", {.failures = 2}, start);
    CHECK(stricter != first);
    CHECK(stricter->settings().failures == 2);
    CHECK(shelf.get("a", {.failures = 2}, start) == stricter);
}

TEST_CASE("A breaker that nobody has is gone, and what it knew with it")
{
    breaker_shelf shelf;
    auto old = shelf.get("a", {.failures = 1}, start);
    if (const auto permit = old->admit(start)) {
        old->ended(*permit, gateway::balancing::call_end::failed, start);
    }
    CHECK(shelf.get("a", {.failures = 1}, start)->state() == gateway::balancing::breaker_state::open);
    old.reset();
    CHECK(shelf.get("a", {.failures = 1}, start)->state() == gateway::balancing::breaker_state::closed);
}

TEST_CASE("The shelf does not grow with endpoints that come and go")
{
    breaker_shelf shelf;
    std::vector<std::shared_ptr<gateway::balancing::breaker>> kept;
    for (int i = 0; i < 10'000; ++i) {
        auto made = shelf.get(std::to_string(i), {}, start);
        if (i % 100 == 0) {
            kept.push_back(std::move(made));
        }
    }
    CHECK(kept.size() == 100);
    CHECK(shelf.size() >= 100);
    CHECK(shelf.size() <= 300);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        CHECK(shelf.get(std::to_string(100 * i), {}, start) == kept[i]);
    }
}

TEST_CASE("Breakers that go by equal settings share them, so that one of many agents that rest is small")
{
    breaker_shelf shelf;
    const auto first = shelf.get("a", {}, start);
    const auto second = shelf.get("b", {}, start);
    const auto other = shelf.get("c", {.failures = 2}, start);
    CHECK(&first->settings() == &second->settings());
    CHECK(&first->settings() != &other->settings());
    CHECK(other->settings().failures == 2);
    CHECK(sizeof(gateway::balancing::breaker) <= 64);
}

TEST_SUITE_END();
