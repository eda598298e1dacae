#include "a2a/card/card_edits.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using core::json;
using core::skill_rule;
using core::skill_visibility;

TEST_SUITE_BEGIN("a2a/card/card_skills");

namespace {

const std::vector<skill_rule> rules{
    {"gold-free", skill_visibility::everyone, {}},
    {"gold-*", skill_visibility::extended, {"gold"}},
    {"both", skill_visibility::extended, {"gold", "silver"}},
    {"known", skill_visibility::extended, {}},
};

json parsed(std::string_view text)
{
    auto value = core::parse_json(text);
    REQUIRE_MESSAGE(value.has_value(), text);
    return *value;
}

// The ids of what is visible of all of these.
std::string visible(const std::vector<std::string>* scopes)
{
    std::string ids;
    for (const std::string id : {"gold-free", "gold-1", "both", "known", "other", "", "GOLD-1"}) {
        ids += a2a::is_visible(id, {rules, scopes}) ? id + "," : "";
    }
    return ids;
}

}  // namespace

TEST_CASE("the first rule that fits a skill says who sees it, and a skill without one is public")
{
    CHECK(visible(nullptr) == "gold-free,other,,GOLD-1,");
    const std::vector<std::string> none;
    CHECK(visible(&none) == "gold-free,known,other,,GOLD-1,");
    const std::vector<std::string> gold{"gold"};
    CHECK(visible(&gold) == "gold-free,gold-1,known,other,,GOLD-1,");
    const std::vector<std::string> silver{"silver", "Gold"};
    CHECK(visible(&silver) == "gold-free,known,other,,GOLD-1,");
    const std::vector<std::string> all{"silver", "gold"};
    CHECK(visible(&all) == "gold-free,gold-1,both,known,other,,GOLD-1,");
}

TEST_CASE("a card keeps the visible skills in their order, also where readers take another spelling and in nested cards"
)
{
    auto card =
        parsed(R"({"name":"n","skills":[{"id":"a"},{"id":"gold-1"},{"id":"b"},{"name":"without id"},"text",{"id":7}],)"
               R"("Skills":[{"id":"gold-2"},{"id":"c"}],"agentCard":{"skills":[{"id":"gold-3"},{"id":"d"}]}})");
    a2a::keep_visible_skills(card, {rules, nullptr});
    CHECK(
        card == parsed(R"({"name":"n","skills":[{"id":"a"},{"id":"b"}],"Skills":[{"id":"c"}],)"
                       R"("agentCard":{"skills":[{"id":"d"}]}})")
    );
}

TEST_CASE("what is no list of skills shows nobody anything")
{
    auto card = parsed(R"({"name":"n","skills":{"id":"gold-1"},"agentCard":"text"})");
    a2a::keep_visible_skills(card, {rules, nullptr});
    CHECK(card == parsed(R"({"name":"n","skills":[],"agentCard":"text"})"));
}

TEST_CASE("without rules a card stays as it is")
{
    const auto card = parsed(R"({"name":"n","skills":[{"name":"without id"},"text"]})");
    auto kept = card;
    a2a::keep_visible_skills(kept, {{}, nullptr});
    CHECK(kept == card);
}

TEST_SUITE_END();
