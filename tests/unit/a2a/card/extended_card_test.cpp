#include "a2a/card/extended_card.hpp"

#include "a2a/card/card_shape.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

using a2a::card_dialect;
using core::json;

TEST_SUITE_BEGIN("a2a/card/extended_card");

namespace {

const a2a::public_address gateway{"https://gw.example/agents/x"};
constexpr std::string_view upstream = "http://agent.internal:9000/a2a";

json parsed(std::string_view text)
{
    auto value = core::parse_json(text);
    REQUIRE_MESSAGE(value.has_value(), text);
    return *value;
}

core::result<json> served(const std::string& text, card_dialect dialect)
{
    const auto made = a2a::parse_card(text);
    REQUIRE_MESSAGE(made.has_value(), text);
    auto rewritten = a2a::rewrite_extended_card(*made, gateway, {std::string{upstream}, ""}, dialect);
    if (!rewritten) {
        return std::move(rewritten).error();
    }
    auto shaped = a2a::shape_card(rewritten->document, rewritten->shape, gateway);
    REQUIRE(shaped.has_value());
    return std::move(shaped->document);
}

// A card with `members` (JSON text) beside what every card needs.
std::string card_of(const std::string& members)
{
    return R"({"name":"n","description":"d","version":"1","capabilities":{"stateTransitionHistory":true,"x-c":1},
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"x-own":{"deep":[1,2]},
        "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"x-skill":true}],"signatures":[{"protected":"p","signature":"s"}],)" +
           members + "}";
}

const std::string old_members =
    R"("protocolVersion":"0.3.0","url":"http://agent.internal:9000/a2a","preferredTransport":"GRPC",
       "additionalInterfaces":[{"url":"agent.internal:9001","transport":"GRPC"},{"url":"http://agent.internal:9000/a2a","transport":"JSONRPC"}])";
const std::string new_members =
    R"("supportedInterfaces":[{"url":"agent.internal:9001","protocolBinding":"GRPC","protocolVersion":"1.0"},
       {"url":"http://agent.internal:9000/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"}])";

}  // namespace

TEST_CASE("the methods that are answered with a card are those of the extended card, each in its own words")
{
    CHECK(a2a::answered_card(a2a::find_method("agent/getAuthenticatedExtendedCard")) == card_dialect::v03);
    CHECK(a2a::answered_card(a2a::find_method("agent/authenticatedExtendedCard")) == card_dialect::v03);
    CHECK(a2a::answered_card(a2a::find_method("GetExtendedAgentCard")) == card_dialect::v1);
    std::size_t others = 0;
    for (std::size_t i = 0; i < a2a::method_count; ++i) {
        others += a2a::answered_card(static_cast<a2a::method>(i)) ? 0 : 1;
    }
    CHECK(others == a2a::method_count - 3);
}

TEST_CASE(
    "a card of the dialect that was asked for keeps what no version knows, and loses the agent's addresses and "
    "signatures"
)
{
    const auto old = served(card_of(old_members), card_dialect::v03);
    REQUIRE(old.has_value());
    CHECK(
        *old ==
        parsed(R"({"name":"n","description":"d","version":"1","capabilities":{"stateTransitionHistory":true,"x-c":1},
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"x-own":{"deep":[1,2]},
        "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"x-skill":true}],
        "protocolVersion":"0.3.0","url":"https://gw.example/agents/x","preferredTransport":"JSONRPC",
        "additionalInterfaces":[{"url":"https://gw.example/agents/x","transport":"JSONRPC"}]})")
    );
    const auto now = served(card_of(new_members), card_dialect::v1);
    REQUIRE(now.has_value());
    CHECK(
        *now == parsed(R"({"name":"n","description":"d","version":"1","capabilities":{"x-c":1},
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"x-own":{"deep":[1,2]},
        "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"x-skill":true}],
        "supportedInterfaces":[{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"}]})"
                )
    );
}

TEST_CASE("no extended card is a hybrid: of both halves the caller gets that of its dialect")
{
    const auto hybrid = card_of(old_members + "," + new_members + R"(,"supportsAuthenticatedExtendedCard":true)");
    for (const auto dialect : {card_dialect::v03, card_dialect::v03_rest}) {
        const auto old = served(hybrid, dialect);
        REQUIRE(old.has_value());
        CHECK(old->at("url") == "https://gw.example/agents/x");
        CHECK(!old->contains("supportedInterfaces"));
        CHECK(old->at("supportsAuthenticatedExtendedCard") == true);
        CHECK(old->contains("x-own"));
    }
    const auto now = served(hybrid, card_dialect::v1);
    REQUIRE(now.has_value());
    for (const auto* member :
         {"url",
          "preferredTransport",
          "additionalInterfaces",
          "protocolVersion",
          "supportsAuthenticatedExtendedCard",
          "x-own"}) {
        CAPTURE(member);
        CHECK(!now->contains(member));
    }
    CHECK(now->at("capabilities") == parsed(R"({"extendedAgentCard":true})"));
    CHECK(now->at("supportedInterfaces").size() == 1);
}

TEST_CASE("a card of the other generation is translated")
{
    const auto now = served(card_of(old_members), card_dialect::v1);
    REQUIRE(now.has_value());
    CHECK(
        now->at("supportedInterfaces") ==
        parsed(R"([{"url":"https://gw.example/agents/x","protocolBinding":"JSONRPC","protocolVersion":"0.3"}])")
    );
    CHECK(!now->contains("url"));
    const auto old = served(card_of(new_members), card_dialect::v03);
    REQUIRE(old.has_value());
    CHECK(old->at("url") == "https://gw.example/agents/x");
    CHECK(old->at("protocolVersion") == "1.0");
    CHECK(!old->contains("supportedInterfaces"));
}

TEST_CASE("HTTP+JSON of 0.3 keeps its own form of security schemes, JSON-RPC has them in the form of 0.3")
{
    const auto card =
        card_of(old_members + R"(,"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}}})");
    const auto rest = served(card, card_dialect::v03_rest);
    REQUIRE(rest.has_value());
    CHECK(rest->at("securitySchemes") == parsed(R"({"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}}})"));
    const auto rpc = served(card, card_dialect::v03);
    REQUIRE(rpc.has_value());
    CHECK(rpc->at("securitySchemes") == parsed(R"({"k":{"type":"apiKey","in":"header","name":"K"}})"));
}

TEST_CASE("a nested card points at the gateway, too")
{
    const auto nested = card_of(old_members + R"(,"agentCard":{"url":"http://agent.internal:9000/a2a","x-own":1})");
    const auto old = served(nested, card_dialect::v03);
    REQUIRE(old.has_value());
    CHECK(
        old->at("agentCard") == parsed(R"({"url":"https://gw.example/agents/x/.well-known/agent-card.json","x-own":1})")
    );
    const auto now = served(
        card_of(
            new_members +
            R"(,"agentCard":{"supportedInterfaces":[{"url":"http://agent.internal:9000/a2a","protocolBinding":"JSONRPC"}]})"
        ),
        card_dialect::v1
    );
    REQUIRE(now.has_value());
    CHECK(core::to_text(*now).find("agent.internal") == std::string::npos);
}

TEST_CASE("a card that would still name the agent's address is not served, in whatever dialect")
{
    const auto card = card_of(
        R"("supportedInterfaces":[{"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"http://agent.internal:9000/t"}])"
    );
    for (const auto dialect : {card_dialect::v03, card_dialect::v03_rest, card_dialect::v1}) {
        const auto refused = served(card, dialect);
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::card_unrewritable);
        CHECK(refused.error().from == core::side::upstream);
    }
}

TEST_CASE("an answer that cannot be read, or in two ways, is a failure of the agent")
{
    const auto code = [](std::string_view text) {
        const auto found = a2a::find_answered_card(text);
        REQUIRE(found.has_error());
        CHECK(found.error().from == core::side::upstream);
        return found.error().code;
    };
    CHECK(code("<html>") == core::errc::card_not_json);
    CHECK(code("") == core::errc::card_not_json);
    CHECK(code("[]") == core::errc::card_invalid);
    CHECK(code(R"({"result":1,"result":2})") == core::errc::card_invalid);
    CHECK(a2a::find_answered_card(R"({"result":{}})")->result == "{}");
}

TEST_SUITE_END();
