#include "a2a/card/card_access.hpp"

#include "tests/unit/a2a/card/shaped_cards.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace a2a_test;
using a2a::card_access;

TEST_SUITE_BEGIN("a2a/card/card_access");

namespace {

const std::string bearer = R"({"type":"http","scheme":"bearer","bearerFormat":"JWT"})";
const std::string key = R"({"type":"apiKey","in":"header","name":"X-API-Key"})";
const std::string own_schemes =
    R"("securitySchemes":{"own":{"type":"http","scheme":"basic"}},"security":[{"own":["a"]}],)"
    R"("skills":[{"id":"s","name":"S","description":"d","tags":[],"security":[{"own":[]}]}])";

card_access asked_for()
{
    return {.schemes = parsed(R"({"idp":)" + bearer + R"(,"keys":)" + key + "}")};
}

// A card as it is served with `access`, in the shape that it has.
core::json served(const std::string& text, const card_access& access)
{
    auto card = a2a::parse_card(text);
    REQUIRE_MESSAGE(card.has_value(), text);
    a2a::set_access(card->document, card->generation, access);
    const auto made = a2a::rewrite_card(*card, gateway, {"http://agent.internal:9000/", ""});
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return *made;
}

std::string old_card(const std::string& more)
{
    return R"({"name":"n","description":"d","version":"1",)" + std::string{old_url} + "," + more + "}";
}

std::string new_card(const std::string& more)
{
    return R"({"name":"n","description":"d","version":"1",)" + std::string{new_url} + "," + more + "}";
}

}  // namespace

TEST_CASE("A card of 0.3 says what the gateway asks for, and nothing of what its agent does")
{
    const auto card = served(old_card(own_schemes), asked_for());
    CHECK(card["securitySchemes"] == parsed(R"({"idp":)" + bearer + R"(,"keys":)" + key + "}"));
    CHECK(card["security"] == parsed(R"([{"idp":[]},{"keys":[]}])"));
    CHECK_FALSE(card.contains("securityRequirements"));
    CHECK_FALSE(card["skills"][0].contains("security"));
    CHECK(card["skills"][0]["id"] == "s");
}

TEST_CASE("A card of 1.0 says it in the forms of 1.0")
{
    const auto card = served(new_card(R"("securityRequirements":[{"schemes":{"own":{"list":[]}}}])"), asked_for());
    CHECK(
        card["securitySchemes"] ==
        parsed(R"({"idp":{"httpAuthSecurityScheme":{"scheme":"bearer","bearerFormat":"JWT"}},)"
               R"("keys":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}})")
    );
    CHECK(
        card["securityRequirements"] == parsed(R"([{"schemes":{"idp":{"list":[]}}},{"schemes":{"keys":{"list":[]}}}])")
    );
    CHECK_FALSE(card.contains("security"));
}

TEST_CASE("A card of both generations says it in both forms")
{
    const auto text =
        old_card(R"("supportedInterfaces":[{"url":"http://agent.internal:9000/","protocolBinding":"JSONRPC",)"
                 R"("protocolVersion":"1.0"}])");
    const auto card = served(text, asked_for());
    CHECK(card["securitySchemes"]["idp"]["type"] == "http");
    CHECK(card["securitySchemes"]["idp"]["httpAuthSecurityScheme"]["bearerFormat"] == "JWT");
    CHECK(card["security"].size() == 2);
    CHECK(card["securityRequirements"].size() == 2);
}

TEST_CASE("A card of 0.1 names the schemes by the words of its time")
{
    const auto before = old_card(R"("authentication":{"schemes":["Basic"],"credentials":"hint"})");
    CHECK(served(before, asked_for())["authentication"] == parsed(R"({"schemes":["Bearer","apiKey"]})"));
    CHECK_FALSE(served(before, {}).contains("authentication"));
    card_access passing = asked_for();
    passing.passes = true;
    CHECK(served(before, passing)["authentication"]["schemes"] == parsed(R"(["Basic"])"));
}

TEST_CASE("Without a provider a card asks for nothing, since what its agent asks for never reaches it")
{
    const auto card = served(old_card(own_schemes), {});
    CHECK_FALSE(card.contains("securitySchemes"));
    CHECK_FALSE(card.contains("security"));
    CHECK_FALSE(card["skills"][0].contains("security"));
}

TEST_CASE("Where calls are for anyone too, the last alternative is to send nothing")
{
    auto access = asked_for();
    access.optional = true;
    CHECK(served(old_card(own_schemes), access)["security"] == parsed(R"([{"idp":[]},{"keys":[]},{}])"));
    CHECK(served(new_card(R"("x-more":1)"), access)["securityRequirements"][2] == parsed(R"({"schemes":{}})"));
}

TEST_CASE("Where credentials are passed on, what the agent asks for stays and is needed besides")
{
    auto access = asked_for();
    access.passes = true;
    const auto card = served(
        old_card(R"("securitySchemes":{"keys":{"type":"http","scheme":"basic"},"m":{"type":"mutualTLS"}},)"
                 R"("security":[{"keys":["a"]},{"m":[]}])"),
        access
    );
    CHECK(card["securitySchemes"]["keys"]["scheme"] == "basic");
    CHECK(card["securitySchemes"]["keys_2"]["type"] == "apiKey");
    CHECK(
        card["security"] ==
        parsed(R"([{"idp":[],"keys":["a"]},{"idp":[],"m":[]},{"keys_2":[],"keys":["a"]},{"keys_2":[],"m":[]}])")
    );
    CHECK(served(old_card(own_schemes), access)["skills"][0]["security"] == parsed(R"([{"own":[]}])"));
    CHECK(served(old_card(own_schemes), {.passes = true})["security"] == parsed(R"([{"own":["a"]}])"));
    CHECK(served(old_card(R"("x-more":1)"), access)["security"] == parsed(R"([{"idp":[]},{"keys":[]}])"));
}

TEST_CASE("There are never more alternatives than a list of requirements may have")
{
    std::string demands;
    for (std::size_t i = 0; i < a2a::max_requirements; ++i) {
        demands += (i == 0 ? "" : ",") + std::string{R"({"own":["scope)"} + std::to_string(i) + R"("]})";
    }
    auto access = asked_for();
    access.passes = true;
    const auto card =
        served(old_card(R"("securitySchemes":{"own":{"type":"mutualTLS"}},"security":[)" + demands + "]"), access);
    CHECK(card["security"].size() == a2a::max_requirements);
    CHECK(card["security"][0] == parsed(R"({"idp":[],"own":["scope0"]})"));
}

TEST_CASE("A card inside a card says the same")
{
    const auto card = served(R"({"name":"outer","agentCard":)" + old_card(own_schemes) + "}", asked_for());
    CHECK(card["agentCard"]["security"] == parsed(R"([{"idp":[]},{"keys":[]}])"));
    CHECK_FALSE(card["agentCard"]["securitySchemes"].contains("own"));
}

TEST_CASE("Every shape of a card says the same of credentials")
{
    for (const auto& text : {old_card(own_schemes), new_card(R"("x-more":1)")}) {
        const auto card = served(text, asked_for());
        const auto modern = a2a::shape_card(card, core::card_shape::v1, gateway);
        const auto old = a2a::shape_card(card, core::card_shape::v03, gateway);
        REQUIRE(modern.has_value());
        REQUIRE(old.has_value());
        CHECK(modern->document["securityRequirements"].size() == 2);
        CHECK(modern->document["securitySchemes"]["keys"].contains("apiKeySecurityScheme"));
        CHECK(old->document["security"] == parsed(R"([{"idp":[]},{"keys":[]}])"));
        CHECK(old->document["securitySchemes"]["keys"] == parsed(key));
    }
}

TEST_SUITE_END();
