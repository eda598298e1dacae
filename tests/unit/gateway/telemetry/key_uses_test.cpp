#include "gateway/telemetry/worker_metrics.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("gateway/key_uses");

namespace {

using namespace std::chrono_literals;
using gateway::model::used_key;
using gateway::telemetry::key_uses;

constexpr core::wall_time start{1'800'000'000s};

}  // namespace

TEST_CASE("the last use of a key counts, whichever loop has seen it")
{
    key_uses one;
    key_uses other;
    one.note({"keys", "ci"}, start);
    one.note({"keys", "ci"}, start + 2s);
    other.note({"keys", "ci"}, start + 1s);
    other.note({"others", "ci"}, start);
    one.merge(other);
    CHECK(one.all().size() == 2);
    CHECK(one.all().at({"keys", "ci"}) == start + 2s);
    CHECK(one.all().at({"others", "ci"}) == start);
}

TEST_CASE("of too many keys the one that was used longest ago is forgotten")
{
    key_uses uses;
    for (std::size_t i = 0; i < key_uses::most; ++i) {
        uses.note({"keys", std::to_string(i)}, start + std::chrono::seconds{i});
    }
    CHECK(uses.all().size() == key_uses::most);
    uses.note({"keys", "0"}, start + 2h);
    CHECK(uses.all().size() == key_uses::most);
    uses.note({"keys", "one more"}, start + 2h);
    CHECK(uses.all().size() == key_uses::most);
    CHECK(uses.all().contains({"keys", "0"}));
    CHECK_FALSE(uses.all().contains({"keys", "1"}));
    CHECK(uses.all().contains({"keys", "one more"}));
}

TEST_SUITE_END();
