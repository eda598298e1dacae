// What replicas that share a PostgreSQL see of each other.
#include "store/postgres.hpp"

#include "tests/unit/store/postgres_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("store/postgres");

using core::errc;
using store::author;
using namespace store::testing;

TEST_CASE("A replica sees what another one wrote, with its record, its author and its replica")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    CHECK(two.poll().changes.empty());
    REQUIRE(one.put("a", R"({"url":"http://a/"})")->version == 1);
    const auto batch = two.poll();
    REQUIRE(batch.changes.size() == 1);
    CHECK(batch.changes[0].what == store::change{1, noon, "test", store::action::created, "a"});
    CHECK(batch.changes[0].by == one.options.self);
    REQUIRE(batch.records.size() == 1);
    CHECK(batch.records[0] == one.engine->find("a").value());
    CHECK(batch.reached.agents == 1);
    CHECK(batch.reached.token.size() == 16);
    CHECK_FALSE(batch.more);
    CHECK(two.poll().changes.empty());
    REQUIRE(two.engine->remove("a", {"test", noon, {}}).value() == 2);
    const auto removed = one.poll();
    REQUIRE(removed.changes.size() == 2);
    CHECK(removed.changes[1].what.what == store::action::deleted);
    CHECK(removed.records.empty());
}

TEST_CASE("A notification ends the wait of another replica, and wake() that of its own")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    two.poll();
    two.feed().wait(0ms);
    const auto begin = std::chrono::steady_clock::now();
    std::thread writer{[&] {
        std::this_thread::sleep_for(50ms);
        static_cast<void>(one.put("a"));
    }};
    two.feed().wait(5s);
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    writer.join();
    CHECK(two.poll().changes.size() == 1);
    CHECK(two.feed().is_notified());
    std::thread waker{[&] {
        std::this_thread::sleep_for(50ms);
        two.feed().wake();
    }};
    two.feed().wait(0ms);
    two.feed().wait(5s);
    waker.join();
    CHECK(std::chrono::steady_clock::now() - begin < 4s);
}

TEST_CASE("Replicas that beat are in each other's list until they leave")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    CHECK(one.poll().replicas.empty());
    REQUIRE(one.beat().has_value());
    REQUIRE(two.beat().has_value());
    const auto both = one.poll().replicas;
    REQUIRE(both.size() == 2);
    CHECK(both[0].facts.id == one.options.self);
    CHECK(both[0].facts.url == "http://r");
    CHECK(both[1].silent < 5s);
    REQUIRE(one.feed().leave().has_value());
    CHECK(two.poll().replicas.size() == 1);
}

TEST_SUITE_END();
