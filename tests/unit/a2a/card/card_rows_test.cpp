// The rows of tests/data/card_rows: what each shape makes of each member of a card of the other generation. A row has
// a `card`, whose members go over those that every card needs, and what the shape gives at JSON pointers; null: nothing.
#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace a2a_test;
using core::card_shape;
using core::json;

TEST_SUITE_BEGIN("a2a/card rows");

namespace {

json rows_of(const std::string& file)
{
    std::ifstream in{CARDEA_TEST_DATA "/card_rows/" + file, std::ios::binary};
    REQUIRE(in.good());
    return parsed(std::string{std::istreambuf_iterator<char>{in}, {}});
}

a2a::shaped_card shaped_row(const json& row, card_shape shape)
{
    auto document = parsed(card_of(R"("x-row":1)"));
    document.erase("x-row");
    document.update(row.at("card"));
    const a2a::public_address at{.base = gateway.base, .bridged = row.value("bridged", false)};
    const auto made = a2a::parse_card(core::to_text(document));
    REQUIRE(made.has_value());
    const auto rewritten = a2a::rewrite_card(*made, at, {"http://agent.internal:9000/", ""});
    REQUIRE_MESSAGE(rewritten.has_value(), rewritten.error().detail);
    auto card = a2a::shape_card(*rewritten, shape, at);
    REQUIRE_MESSAGE(card.has_value(), card.error().detail);
    return std::move(*card);
}

// The names of the rows.
std::set<std::string> check_rows(const std::string& file, card_shape shape)
{
    std::set<std::string> names;
    for (const auto& row : rows_of(file)) {
        const auto text = core::to_text(row);
        CAPTURE(text);
        names.insert(row.at("row").get<std::string>());
        const auto made = shaped_row(row, shape);
        for (const auto& [pointer, expected] : row.at("gives").items()) {
            CAPTURE(pointer);
            const json::json_pointer at{pointer};
            if (expected.is_null()) {
                CHECK_FALSE(made.document.contains(at));
            } else {
                REQUIRE(made.document.contains(at));
                CHECK(core::to_text(made.document.at(at)) == core::to_text(expected));
            }
        }
        CHECK(made.lost == row.at("lost").get<std::vector<std::string>>());
    }
    return names;
}

}  // namespace

TEST_CASE("Each member of a card becomes what the other generation calls it, both ways")
{
    const std::set<std::string> every_row{
        "protocolVersion",
        "url",
        "additionalInterfaces",
        "tenant",
        "extendedCard",
        "stateTransitionHistory",
        "capabilities",
        "extensions",
        "apiKey",
        "http",
        "oauth2",
        "openIdConnect",
        "mutualTLS",
        "security",
        "skills.security",
        "signatures",
        "others",
    };
    CHECK(check_rows("to_v1.json", card_shape::v1) == every_row);
    CHECK(check_rows("to_v03.json", card_shape::v03) == every_row);
}

TEST_SUITE_END();
