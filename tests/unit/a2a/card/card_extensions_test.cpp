#include "a2a/card/card_extensions.hpp"

#include "a2a/card/card_lint.hpp"
#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using a2a_test::parsed;

TEST_SUITE_BEGIN("a2a/card/card_extensions");

TEST_CASE("The gateway's extension is declared once, behind those of the agent, and never in a list that is none")
{
    const std::string own =
        R"({"uri":"urn:cardea:a2a:extension:gateway:v1","description":")"
        R"(The gateway in front of this agent: which agent it is there, and facts about each answer",)"
        R"("required":false,"params":{"agent":"words"}})";
    const std::string other = R"({"uri":"urn:x:a","required":true})";
    const std::string elsewhere = R"({"uri":"urn:cardea:a2a:extension:gateway:v1","params":{"agent":"inner"}})";
    const std::pair<std::string, std::string> rows[]{
        {R"({"capabilities":{}})", R"({"capabilities":{"extensions":[)" + own + "]}}"},
        {R"({"capabilities":{"extensions":[)" + other + R"(],"streaming":true}})",
         R"({"capabilities":{"extensions":[)" + other + "," + own + R"(],"streaming":true}})"},
        {R"({"capabilities":{"extensions":[)" + elsewhere + "," + other + "," + elsewhere + "]}}",
         R"({"capabilities":{"extensions":[)" + other + "," + own + "]}}"},
        {R"({"capabilities":{"extensions":[7,{}]}})", R"({"capabilities":{"extensions":[7,{},)" + own + "]}}"},
        {R"({"capabilities":{"extensions":{}}})", R"({"capabilities":{"extensions":{}}})"},
        {R"({"capabilities":[]})", R"({"capabilities":[]})"},
        {R"({"name":"n"})", R"({"name":"n"})"},
    };
    for (const auto& [written, expected] : rows) {
        CAPTURE(written);
        auto card = parsed(written);
        a2a::declare_gateway_facts(card, "words");
        CHECK(core::to_text(card) == expected);
        a2a::declare_gateway_facts(card, "words");
        CHECK(core::to_text(card) == expected);
    }
}

TEST_CASE("Lint has nothing to say of the gateway's extension")
{
    auto card = parsed(a2a_test::card_of(std::string{a2a_test::new_url}));
    card["skills"] = parsed(R"([{"id":"s","name":"S","description":"d","tags":["t"]}])");
    a2a::declare_gateway_facts(card, "words");
    CHECK(a2a::lint_card(core::to_text(card)).problems.empty());
}

TEST_SUITE_END();
