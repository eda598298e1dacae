// What every store promises, asked of each.
#include "store/engine.hpp"

#include "store/memory.hpp"
#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("store/engine");

namespace {

using namespace std::chrono_literals;
using core::errc;
using store::action;
using store::author;
using store::kept_card;
using store::record;

constexpr core::wall_time noon{std::chrono::milliseconds{1'700'000'000'123}};

author at(core::wall_time when, std::optional<std::uint64_t> if_version = {})
{
    return {"admin 127.0.0.1", when, if_version};
}

kept_card card_of(std::string agent, std::string document)
{
    return {std::move(agent), "http://a/", std::move(document), "http://a/card.json", "\"e\"", "then", noon, 5min};
}

// Runs the test once with each engine, empty.
void each_engine(const std::function<void(store::engine&)>& test)
{
    SUBCASE("memory")
    {
        const auto memory = store::make_memory();
        test(*memory);
    }
    SUBCASE("sqlite")
    {
        const test_support::scratch_directory scratch;
        const auto opened = store::open_sqlite({.path = scratch.file("s.db")});
        REQUIRE(opened.has_value());
        test(**opened);
    }
}

std::vector<std::string> ids(store::engine& engine)
{
    std::vector<std::string> all;
    for (const auto& each : engine.load().value()) {
        all.push_back(each.id);
    }
    return all;
}

}  // namespace

TEST_CASE("a new store has nothing in it")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.load()->empty());
        CHECK(engine.changes(0, 10)->empty());
        CHECK_FALSE(engine.find("a")->has_value());
        CHECK_FALSE(engine.card("a")->has_value());
    });
}

TEST_CASE("what is put is found, in the order of the ids, with the version and the time of its writing")
{
    each_engine([](store::engine& engine) {
        const auto b = engine.put("b", R"({"url":"http://b/"})", at(noon + 700us));
        const auto a = engine.put("a", R"({"url":"http://ä/"})", at(noon + 1s));
        REQUIRE(b.has_value());
        REQUIRE(a.has_value());
        CHECK(*b == record{"b", R"({"url":"http://b/"})", 1, noon});
        CHECK(*a == record{"a", R"({"url":"http://ä/"})", 2, noon + 1s});
        CHECK(engine.load().value() == std::vector<record>{*a, *b});
        CHECK(engine.find("a").value() == *a);
    });
}

TEST_CASE("a version rises with every change and is not given again, not even to an agent that comes back")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.put("a", "{}", at(noon))->version == 1);
        CHECK(engine.put("b", "{}", at(noon))->version == 2);
        CHECK(engine.put("a", R"({"x":1})", at(noon))->version == 3);
        CHECK(engine.remove("a", at(noon)).value() == 4);
        CHECK(engine.put("a", "{}", at(noon))->version == 5);
        CHECK(engine.find("a").value()->definition == "{}");
    });
}

TEST_CASE("a write under a condition happens only if that version is there")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.put("a", "1", at(noon, 7)).error().code == errc::version_conflict);
        CHECK(engine.put("a", "1", at(noon, 0))->version == 1);
        CHECK(engine.put("a", "2", at(noon, 0)).error().code == errc::version_conflict);
        CHECK(engine.put("a", "2", at(noon, 1))->version == 2);
        CHECK(engine.put("a", "3", at(noon, 1)).error().code == errc::version_conflict);
        CHECK(engine.remove("a", at(noon, 1)).error().code == errc::version_conflict);
        CHECK(engine.find("a").value()->definition == "2");
        CHECK(engine.remove("a", at(noon, 2)).value() == 3);
        CHECK(engine.put("a", "4", at(noon, 2)).error().code == errc::version_conflict);
        CHECK(engine.changes(0, 10)->size() == 3);
    });
}

TEST_CASE("an agent that is not there cannot be removed")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.remove("a", at(noon)).error().code == errc::agent_not_found);
        CHECK(engine.remove("a", at(noon, 0)).error().code == errc::agent_not_found);
        REQUIRE(engine.put("a", "{}", at(noon)).has_value());
        REQUIRE(engine.remove("a", at(noon)).has_value());
        CHECK(engine.remove("a", at(noon)).error().code == errc::agent_not_found);
        CHECK(ids(engine).empty());
    });
}

TEST_CASE("the trail says who did what to which agent and when, and nothing of what was written")
{
    each_engine([](store::engine& engine) {
        REQUIRE(engine.put("a", R"({"bearer":"hunter2"})", {"alice", noon, {}}).has_value());
        REQUIRE(engine.put("a", R"({"bearer":"hunter3"})", {"bob", noon + 1s, {}}).has_value());
        REQUIRE(engine.remove("a", {"carol", noon + 2s, {}}).has_value());
        const std::vector<store::change> all{
            {1, noon, "alice", action::created, "a"},
            {2, noon + 1s, "bob", action::updated, "a"},
            {3, noon + 2s, "carol", action::deleted, "a"},
        };
        CHECK(engine.changes(0, 10).value() == all);
        CHECK(engine.changes(1, 1).value() == std::vector<store::change>{all[1]});
        CHECK(engine.changes(3, 10)->empty());
        CHECK(engine.changes(0, 0)->empty());
    });
}

TEST_CASE("the store in memory keeps the last 100,000 changes, and their versions go on")
{
    static_assert(store::changes_kept == 100'000);
    const auto engine = store::make_memory();
    for (std::uint64_t i = 1; i <= store::changes_kept + 2; ++i) {
        REQUIRE(engine->put("a", "{}", at(noon))->version == i);
        if (i == store::changes_kept) {
            CHECK(engine->changes(0, 1)->front().version == 1);
        }
    }
    const auto all = engine->changes(0, 1'000'000).value();
    CHECK(all.size() == store::changes_kept);
    CHECK(all.front().version == 3);
    CHECK(all.back().version == store::changes_kept + 2);
}

TEST_CASE("the last card of an agent is kept whole, and goes with the agent")
{
    each_engine([](store::engine& engine) {
        REQUIRE(engine.put("a", "{}", at(noon)).has_value());
        REQUIRE(engine.keep_cards({card_of("a", "{\"name\":\"old\"}"), card_of("b", "{\"name\":\"b\"}")}).has_value());
        auto newer = card_of("a", "{\"name\":\"new\"}");
        newer.fetched += 1h;
        newer.etag.clear();
        REQUIRE(engine.keep_cards({newer}).has_value());
        CHECK(engine.card("a").value() == newer);
        CHECK(engine.card("b").value() == card_of("b", "{\"name\":\"b\"}"));
        REQUIRE(engine.remove("a", at(noon)).has_value());
        CHECK_FALSE(engine.card("a")->has_value());
        CHECK(engine.card("b")->has_value());
    });
}

TEST_CASE("Tasks are kept by name, the oldest first, until they are trimmed")
{
    each_engine([](store::engine& engine) {
        using tasks = std::vector<store::kept_task>;
        CHECK(engine.tasks()->empty());
        REQUIRE(engine.keep_tasks({{3, 30, noon}, {1, 10, noon + 2h}, {2, 20, noon + 1h + 700us}}).has_value());
        CHECK(engine.tasks().value() == tasks{{3, 30, noon}, {2, 20, noon + 1h}, {1, 10, noon + 2h}});
        REQUIRE(engine.keep_tasks({{3, 31, noon + 3h}}).has_value());
        CHECK(engine.tasks().value() == tasks{{2, 20, noon + 1h}, {1, 10, noon + 2h}, {3, 31, noon + 3h}});
        REQUIRE(engine.trim_tasks(noon + 1h, 3).has_value());
        CHECK(engine.tasks()->size() == 3);
        REQUIRE(engine.trim_tasks(noon + 1h, 2).has_value());
        CHECK(engine.tasks().value() == tasks{{1, 10, noon + 2h}, {3, 31, noon + 3h}});
        REQUIRE(engine.trim_tasks(noon + 2h + 1ms, 2).has_value());
        CHECK(engine.tasks().value() == tasks{{3, 31, noon + 3h}});
    });
}

TEST_CASE("a card that is still right is renewed without its document, if it is one of the same source")
{
    each_engine([](store::engine& engine) {
        REQUIRE(engine.keep_cards({card_of("a", "{\"name\":\"a\"}")}).has_value());
        auto renewed = card_of("a", "");
        renewed.fetched += 2h;
        renewed.etag = "\"f\"";
        renewed.fresh_for = 1min;
        auto elsewhere = renewed;
        elsewhere.source = "http://elsewhere/";
        elsewhere.fetched += 1h;
        REQUIRE(engine.keep_cards({renewed, elsewhere, card_of("none", "")}).has_value());
        auto expected = renewed;
        expected.document = "{\"name\":\"a\"}";
        CHECK(engine.card("a").value() == expected);
        CHECK_FALSE(engine.card("none")->has_value());
    });
}

TEST_CASE("Deliveries have rising numbers, are read one by one, and go when they are dropped")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.deliveries()->empty());
        const store::kept_delivery one{7, "id-1", "a", "lane", "sealed", "{\"task\":{\"id\":\"ä\"}}", noon + 700us};
        REQUIRE(engine.keep_delivery(one).value() == 1);
        REQUIRE(engine.keep_delivery({0, "id-2", "b", "lane", "sealed", "", noon}).value() == 2);
        const std::vector<store::delivery_facts> all{
            {1, "id-1", "a", "lane", one.body.size(), noon},
            {2, "id-2", "b", "lane", 0, noon}
        };
        CHECK(engine.deliveries().value() == all);
        auto expected = one;
        expected.number = 1;
        expected.received = noon;
        CHECK(engine.delivery(1).value() == expected);
        CHECK_FALSE(engine.delivery(3)->has_value());
        REQUIRE(engine.drop_delivery(1).has_value());
        REQUIRE(engine.drop_delivery(1).has_value());
        CHECK_FALSE(engine.delivery(1)->has_value());
        CHECK(engine.keep_delivery(one).value() == 3);
        CHECK(engine.deliveries()->size() == 2);
    });
}

TEST_CASE("The key of sessions is the one that was there first")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.session_key(core::secret{"one"})->reveal() == "one");
        CHECK(engine.session_key(core::secret{"two"})->reveal() == "one");
    });
}

TEST_SUITE_END();
