#include "a2a/card/card_lint.hpp"
#include "a2a/extension_header.hpp"
#include "tests/support/schema_validator.hpp"
#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
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

TEST_CASE("The parameters of the gateway's extension are as its schema says")
{
    std::ifstream in{CARDEA_TEST_DATA "/../../docs/extensions/gateway-v1.schema.json", std::ios::binary};
    REQUIRE(in.good());
    const auto schema = parsed(std::string{std::istreambuf_iterator<char>{in}, {}});
    CHECK(schema.at("$id") == a2a::gateway_facts_extension);
    const test_support::validator validator{schema};
    for (const std::string id : {"words", "a", "A.b_c-9"}) {
        auto card = parsed(R"({"capabilities":{}})");
        a2a::declare_gateway_facts(card, id);
        const auto& extension = card.at("capabilities").at("extensions").at(0);
        CHECK(extension.at("required") == false);
        CHECK(validator.takes(extension.at("params")));
    }
    for (const auto* wrong : {"{}", R"({"agent":7})", R"({"agent":""})", R"({"agent":"a/b"})", "[]"}) {
        CAPTURE(wrong);
        CHECK_FALSE(validator.takes(parsed(wrong)));
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
