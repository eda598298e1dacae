// The index of texts: its order, words that look like syntax, and its end.
#include "store/text_index.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("store/text_index");

namespace {

using texts = std::vector<std::string>;

std::unique_ptr<store::text_index> index_of(const std::vector<texts>& documents)
{
    constexpr std::array<double, 2> weights{4, 1};
    auto made = store::text_index::make(weights);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    for (std::size_t i = 0; i < documents.size(); ++i) {
        REQUIRE((*made)->add(static_cast<std::int64_t>(i), documents[i]).has_value());
    }
    REQUIRE((*made)->finish().has_value());
    return std::move(*made);
}

std::vector<std::int64_t> found(const store::text_index& index, const std::vector<store::sought_thing>& things)
{
    std::vector<std::int64_t> numbers;
    const auto take = [&](std::int64_t number) {
        numbers.push_back(number);
        return true;
    };
    const auto done = index.find(things, take);
    REQUIRE_MESSAGE(done.has_value(), done.error().detail);
    return numbers;
}

using order = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("A document with the word in a text of greater weight comes first")
{
    const auto index = index_of({{"alpha beta", "file gamma"}, {"file beta", "delta gamma"}, {"of this", "and that"}});

    CHECK(found(*index, {{"file"}}) == order{1, 0});
}

TEST_CASE("A document with two of the things comes before one that has one of them often")
{
    const auto index =
        index_of({{"branch branch branch", ""}, {"", "create a branch"}, {"a", "b"}, {"c", "d"}, {"e", "f"}});

    CHECK(found(*index, {{"create"}, {"branch"}}) == order{1, 0});
}

TEST_CASE("Spellings of one thing count as one")
{
    const auto index = index_of({{"", "folder directory"}, {"", "folder colour"}, {"x", "y"}, {"z", "w"}, {"v", "u"}});

    CHECK(found(*index, {{"folder", "directory"}, {"colour"}}).front() == 1);
}

TEST_CASE("The stem of a word is found, a rarer word counts more, and equal documents are in the order of their numbers"
)
{
    const auto index = index_of({{"", "listing files"}, {"", "file lists"}, {"", "file trees"}, {"", "file things"}});

    CHECK(found(*index, {{"list"}}) == order{0, 1});
    CHECK(found(*index, {{"files"}, {"tree"}}).front() == 2);
    CHECK(found(*index, {{"file"}}) == order{0, 1, 2, 3});
}

TEST_CASE("No word is syntax")
{
    const auto index = index_of({{"name", "AND OR NOT NEAR"}, {"quote", "a \"b\" c"}});

    for (const auto* const word :
         {"\"",
          "\"\"",
          "a\"b",
          "text0:name",
          "name*",
          "^name",
          "NEAR(a b)",
          "OR",
          "AND",
          "NOT",
          "(",
          ")",
          "-",
          "+",
          "",
          "\xC3\xA4",
          "\xFF",
          "{a b} : c",
          "'; DROP TABLE documents; --"}) {
        CAPTURE(word);
        found(*index, {{word}});
        found(*index, {{word, "name"}, {word}});
    }
    CHECK(found(*index, {{"or"}}) == order{0});
    CHECK(found(*index, {{"b"}}) == order{1});
    CHECK(found(*index, {{"\xE2\x80\x94"}, {"name"}}) == order{0});  // a dash is no word
}

TEST_CASE("A question for nothing finds nothing, and takers end it")
{
    const auto index = index_of({{"a", ""}, {"a", ""}, {"a", ""}});
    CHECK(found(*index, {}).empty());
    CHECK(found(*index, {{}}).empty());
    CHECK(found(*index, {{"b"}}).empty());

    int taken = 0;
    const auto done = index->find(std::vector<store::sought_thing>{{"a"}}, [&](std::int64_t) { return ++taken < 2; });
    CHECK(done.has_value());
    CHECK(taken == 2);
    CHECK(found(*index, {{"a"}}).size() == 3);
    CHECK(index->bytes() > 0);
}

TEST_CASE("Things beyond the limit are not looked for")
{
    const auto index = index_of({{"last", ""}, {"other", ""}});
    std::vector<store::sought_thing> things(store::text_index::most_things - 1, {"nothing"});
    things.push_back({"last"});
    CHECK(found(*index, things) == order{0});

    things.insert(things.begin(), {"nothing"});
    CHECK(found(*index, things).empty());
}

TEST_CASE("An index without documents is asked like any other")
{
    CHECK(found(*index_of({}), {{"a"}}).empty());
}

TEST_SUITE_END();
