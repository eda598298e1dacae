// What every store promises, asked of each.
#include "store/engine.hpp"

#include "store/memory.hpp"
#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/store/postgres_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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
    SUBCASE("postgres")
    {
        const store::testing::replica one{store::testing::fresh_database()};
        test(*one.engine);
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
        REQUIRE(
            engine.keep_tasks({{3, 0x1100, noon}, {1, 0x2000, noon + 2h}, {2, 0x3000, noon + 1h + 700us}}).has_value()
        );
        CHECK(engine.tasks().value() == tasks{{3, 0x1100, noon}, {2, 0x3000, noon + 1h}, {1, 0x2000, noon + 2h}});
        REQUIRE(engine.keep_tasks({{3, 0x1200, noon + 3h}}).has_value());
        CHECK(engine.tasks().value() == tasks{{2, 0x3000, noon + 1h}, {1, 0x2000, noon + 2h}, {3, 0x1200, noon + 3h}});
        REQUIRE(engine.trim_tasks(noon + 1h, 3).has_value());
        CHECK(engine.tasks()->size() == 3);
        REQUIRE(engine.trim_tasks(noon + 1h, 2).has_value());
        CHECK(engine.tasks().value() == tasks{{1, 0x2000, noon + 2h}, {3, 0x1200, noon + 3h}});
        REQUIRE(engine.trim_tasks(noon + 2h + 1ms, 2).has_value());
        CHECK(engine.tasks().value() == tasks{{3, 0x1200, noon + 3h}});
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

TEST_CASE("Documents are kept by kind and name, the last one of a name counts, and they come in the order of names")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.documents("containment")->empty());
        const store::kept_document b{"containment", "b", "", "{\"reason\":\"ä\"}"};
        REQUIRE(engine.keep_document({"containment", "b", "", "old"}).has_value());
        REQUIRE(engine.keep_document(b).has_value());
        REQUIRE(engine.keep_document({"containment", "a", "", ""}).has_value());
        REQUIRE(engine.keep_document({"pins", "b", "b", "{}"}).has_value());
        const std::vector<store::kept_document> all{{"containment", "a", "", ""}, b};
        CHECK(engine.documents("containment").value() == all);
        CHECK(engine.documents("pins").value() == std::vector<store::kept_document>{{"pins", "b", "b", "{}"}});
        REQUIRE(engine.drop_document("containment", "b").has_value());
        REQUIRE(engine.drop_document("containment", "b").has_value());
        CHECK(engine.documents("containment").value() == std::vector<store::kept_document>{all.front()});
        CHECK(engine.documents("pins")->size() == 1);
    });
}

TEST_CASE("A document that names an agent goes with it, and one that does not stays")
{
    each_engine([](store::engine& engine) {
        REQUIRE(engine.put("a", "{}", at(noon)).has_value());
        REQUIRE(engine.keep_document({"pins", "a", "a", "{}"}).has_value());
        REQUIRE(engine.keep_document({"pins", "b", "b", "{}"}).has_value());
        REQUIRE(engine.keep_document({"containment", "agent a", "", "{}"}).has_value());
        REQUIRE(engine.remove("a", at(noon)).has_value());
        CHECK(engine.documents("pins").value() == std::vector<store::kept_document>{{"pins", "b", "b", "{}"}});
        CHECK(engine.documents("containment")->size() == 1);
    });
}

TEST_CASE("A store in memory passes its documents on")
{
    const auto first = store::make_memory();
    const store::kept_document one{"containment", "agent a", "", "{}"};
    REQUIRE(first->keep_document(one).has_value());
    auto passed = store::contents_of(*first).value();
    CHECK(passed.documents == std::vector{one});
    CHECK(store::make_memory(std::move(passed))->documents("containment").value() == std::vector{one});
}

namespace {

store::card_version version_of(const std::string& agent, int number, std::string document = "{}")
{
    return {agent, noon + std::chrono::seconds{number}, std::to_string(number), 2, std::nullopt, std::move(document)};
}

std::vector<std::string> digests(store::engine& engine, const std::string& agent)
{
    std::vector<std::string> all;
    for (const auto& each : engine.card_versions(agent).value()) {
        all.push_back(each.sha256);
    }
    return all;
}

}  // namespace

TEST_CASE("The latest version of a card is the first, and the only one with a document")
{
    each_engine([](store::engine& engine) {
        CHECK(engine.card_versions("a")->empty());
        REQUIRE(engine.keep_card_version(version_of("a", 1)).has_value());
        auto second = version_of("a", 2, R"({"x":1})");
        second.at += 700us;
        second.patch = R"([{"op":"add"}])";
        REQUIRE(engine.keep_card_version(second).has_value());
        REQUIRE(engine.keep_card_version(version_of("b", 1)).has_value());
        second.at = noon + 2s;
        const std::vector<store::card_version> expected{second, version_of("a", 1, "")};
        CHECK(engine.card_versions("a").value() == expected);
        CHECK(engine.card_versions("b").value() == std::vector<store::card_version>{version_of("b", 1)});
    });
}

TEST_CASE("An agent has at most 20 versions of its card, and none once it is removed")
{
    static_assert(store::card_versions_kept == 20);
    each_engine([](store::engine& engine) {
        REQUIRE(engine.put("a", "{}", at(noon)).has_value());
        for (int i = 1; i <= 21; ++i) {
            REQUIRE(engine.keep_card_version(version_of("a", i)).has_value());
            const auto kept = digests(engine, "a");
            CHECK(kept.size() == std::min<std::size_t>(static_cast<std::size_t>(i), 20));
            CHECK(kept.front() == std::to_string(i));
            CHECK(kept.back() == (i == 21 ? "2" : "1"));
        }
        REQUIRE(engine.keep_card_version(version_of("b", 1)).has_value());
        REQUIRE(engine.remove("a", at(noon)).has_value());
        CHECK(digests(engine, "a").empty());
        CHECK(digests(engine, "b").size() == 1);
    });
}

TEST_CASE("Versions of all cards have at most 64 MiB, and the oldest go first")
{
    constexpr std::size_t mib = 1024 * 1024;
    static_assert(store::card_version_bytes == 64 * mib);
    each_engine([](store::engine& engine) {
        // An agent keeps the document of its latest card alone, so that each round has its own agents.
        int number = 0;
        for (const std::size_t last : {mib - 1, mib, mib + 1}) {
            for (int i = 1; i <= 64; ++i) {
                const auto bytes = (i == 64 ? last : mib) - store::card_version_overhead;
                const auto agent = "a" + std::to_string(++number);
                REQUIRE(engine.keep_card_version(version_of(agent, i, std::string(bytes, 'x'))).has_value());
            }
            const auto first = number - 63;
            CHECK(digests(engine, "a" + std::to_string(first)).size() == (last > mib ? 0 : 1));
            CHECK(digests(engine, "a" + std::to_string(first + 1)).size() == 1);
            CHECK(digests(engine, "a" + std::to_string(number)).size() == 1);
        }
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
