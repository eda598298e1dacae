// Questions of people to find_tools over the tools of real servers: the right one is among the first five.
#include "core/json/json.hpp"
#include "tests/unit/gateway/bundles/real_tools.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/bundles/tool_questions");

namespace {

// How many of the questions have a right tool among the first five.
int answered(const std::vector<tests::real_question>& questions)
{
    const auto tools = tests::all_real_tools();
    const auto index = tools.index();
    int count = 0;
    for (const auto& question : questions) {
        for (const auto& name : question.right) {
            bool listed = false;
            for (std::size_t place = 0; place < tools.size(); ++place) {
                listed = listed || tools.name(place) == name;
            }
            REQUIRE_MESSAGE(listed, name);
        }
        const auto answer = index->answer(
            {.arguments = core::json{{"query", question.text}, {"limit", 5}}.dump(),
             .visible = gateway::bundles::visible_tools(tools.size(), true)}
        );
        const auto result = core::parse_json(answer.result, {.bytes = 4 * 1024 * 1024});
        REQUIRE(result.has_value());
        const auto is_right = [&](const auto& tool) {
            return std::ranges::count(question.right, tool["name"].template get<std::string>()) > 0;
        };
        const auto& found = (*result)["structuredContent"]["tools"];
        const bool right = std::any_of(found.begin(), found.end(), is_right);
        count += right ? 1 : 0;
        INFO("missed: " << question.text);
        WARN(right);
    }
    MESSAGE("answered: " << count << " of " << questions.size());
    return count;
}

}  // namespace

TEST_CASE("Of 100 questions over real tools, 90 have the right tool among the first five")
{
    const auto questions = tests::real_questions();
    REQUIRE(questions.size() == 100);
    CHECK(answered(questions) >= 90);
}

TEST_CASE("Of questions that the ranking was not made with, seven in eight have the right tool among the first five")
{
    const auto questions = tests::real_questions("further_questions.txt");
    REQUIRE(questions.size() == 67);
    CHECK(answered(questions) * 8 >= 67 * 7);
}

TEST_SUITE_END();
