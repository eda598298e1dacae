// Moving a store from one engine to the other, and back.
#include "store/copy.hpp"

#include "store/sqlite.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/store/postgres_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("store/copy");

using core::errc;
using namespace store::testing;

namespace {

store::place at(const std::string& url)
{
    store::place where;
    where.postgres.url = url;
    return where;
}

std::unique_ptr<store::engine> open_file(const std::string& path)
{
    auto opened = store::open_sqlite({.path = path, .ballast = 0});
    REQUIRE_MESSAGE(opened.has_value(), opened.error().detail);
    return std::move(*opened);
}

void fill(store::engine& engine)
{
    REQUIRE(engine.put("a", R"({"url":"http://ä/","hosts":["A.example"]})", {"alice", noon, {}}).has_value());
    REQUIRE(engine.put("b", "{}", {"bob", noon + 1s, {}}).has_value());
    REQUIRE(engine.put("c", "{}", {"carol", noon + 2s, {}}).has_value());
    REQUIRE(engine.remove("c", {"dave", noon + 3s, {}}).has_value());
    const store::kept_card card{"a", "s", "{}", "http://a/card", "\"\xff\"", "then", noon, 5min};
    REQUIRE(engine.keep_cards({card}).has_value());
    REQUIRE(engine.keep_card_version({"a", noon, "01", 2, {}, "{1}"}).has_value());
    REQUIRE(engine.keep_card_version({"a", noon + 1s, "02", 2, "[]", "{2}"}).has_value());
    REQUIRE(engine.keep_document({"containment", std::string{"p\0q", 3}, "", "{}"}).has_value());
    REQUIRE(engine.keep_document({"pins", "a", "a", "{}"}).has_value());
    REQUIRE(engine.keep_tasks({{7, ~std::uint64_t{0xFFF} | 5U, noon}}).has_value());
    REQUIRE(engine.keep_delivery({0, "d1", "a", "lane", "sealed", "{}", noon}).has_value());
    REQUIRE(engine.keep_delivery({0, "d2", "a", "lane", std::string{"\0\xff", 2}, "{}", noon}).has_value());
    REQUIRE(engine.drop_delivery(1).has_value());
}

void check(store::engine& engine, store::engine& original, bool with_deliveries)
{
    const core::secret any_key{std::string(64, 'n')};
    CHECK(engine.load().value() == original.load().value());
    CHECK(engine.changes(0, 100).value() == original.changes(0, 100).value());
    CHECK(engine.changes(0, 100)->size() == 4);
    CHECK(engine.card("a").value() == original.card("a").value());
    CHECK(engine.card_versions("a").value() == original.card_versions("a").value());
    for (const auto* kind : {"containment", "pins"}) {
        CHECK(engine.documents(kind).value() == original.documents(kind).value());
    }
    CHECK(engine.tasks().value() == original.tasks().value());
    CHECK(engine.session_key(any_key).value() == original.session_key(any_key).value());
    if (with_deliveries) {
        CHECK(engine.deliveries().value() == original.deliveries().value());
        CHECK(engine.delivery(2).value() == original.delivery(2).value());
    }
}

}  // namespace

TEST_CASE("A store is copied from a file to a database and back, with its versions and numbers")
{
    const test_support::scratch_directory scratch;
    const auto first = scratch.file("first.db");
    const auto second = scratch.file("second.db");
    const auto url = fresh_database();
    {
        const auto file = open_file(first);
        fill(*file);
        CHECK(file->session_key(core::secret{std::string(64, 'a')}).has_value());
    }
    const auto moved = store::copy({first, {}}, at(url));
    REQUIRE_MESSAGE(moved.has_value(), moved.error().detail);
    CHECK(moved->agents == 2);
    CHECK(moved->changes == 4);
    CHECK(moved->deliveries == 1);
    const auto back = store::copy(at(url), {second, {}});
    REQUIRE_MESSAGE(back.has_value(), back.error().detail);

    const auto original = open_file(first);
    const auto returned = open_file(second);
    check(*returned, *original, true);
    replica shared{url};
    check(*shared.engine, *original, false);
    REQUIRE(shared.beat().has_value());
    const auto taken = shared.poll();
    CHECK(taken.deliveries == original->deliveries().value());
    CHECK(shared.engine->delivery(2).value() == original->delivery(2).value());

    CHECK(returned->put("d", "{}", {"test", noon, {}})->version == 5);
    CHECK(shared.put("d", R"({"hosts":["a.example"]})").error().code == errc::invalid_params);
    CHECK(shared.put("d")->version == 5);
    const store::kept_delivery next{0, "d3", "a", "other", "sealed", "{}", noon};
    CHECK(returned->keep_delivery(next).value() == 3);
    CHECK(*shared.engine->keep_delivery(next).value() > 2);
}

TEST_CASE("A store is not copied to one that has something, nor from one that is missing")
{
    const test_support::scratch_directory scratch;
    const auto path = scratch.file("a.db");
    const auto url = fresh_database();
    const auto missing = store::copy({path, {}}, at(url));
    REQUIRE(missing.has_error());
    CHECK(missing.error().code == errc::config_invalid);
    CHECK(missing.error().detail == path + ": is missing");
    fill(*open_file(path));
    REQUIRE(store::copy({path, {}}, at(url)).has_value());
    const auto again = store::copy({path, {}}, at(url));
    CHECK(again.error().code == errc::config_invalid);
    CHECK(again.error().detail.starts_with(url));
    CHECK(store::copy(at(url), {path, {}}).error().code == errc::config_invalid);
    CHECK(replica{url}.engine->load()->size() == 2);
}

TEST_SUITE_END();
