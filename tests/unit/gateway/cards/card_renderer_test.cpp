#include "gateway/cards/card_renderer.hpp"

#include "a2a/card/card_signature.hpp"
#include "tests/unit/gateway/cards/rendering.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("gateway/card_renderer");

namespace {

using core::card_shape;
using core::json;
using gateway::cards::card_signer;
using gateway::cards::rendered_card;
using gateway::cards::signing;

const std::string base = "https://gateway";
const a2a::public_address address{base + "/agents/a"};

card_signer new_signer()
{
    auto key = jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), {});
    REQUIRE(key.has_value());
    auto set = core::to_text(json{{"keys", json::array({key->jwk()})}});
    return {std::make_shared<const jose::json_web_key>(std::move(*key)), std::move(set)};
}

const auto modern = R"({"name":"a","supportedInterfaces":[
    {"url":"http://agent","protocolBinding":"JSONRPC","protocolVersion":"1.0"}], "x-own": 1})";
constexpr std::string_view old = R"({"name":"a","url":"http://agent","protocolVersion":"0.3.0"})";

core::result<rendered_card>
rendered(std::string_view text, card_shape shape, const signing& signature, const a2a::public_address& at = address)
{
    auto card = a2a::parse_card(text, {});
    REQUIRE(card.has_value());
    auto rewritten = a2a::rewrite_card(std::move(*card), at, {.url = "http://agent", .card_url = {}});
    REQUIRE(rewritten.has_value());
    return cards_test::render_at_once({std::move(*rewritten), at, shape, signature});
}

bool verifies(const std::string& body, const card_signer& signer)
{
    const auto keys = jose::parse_key_set(signer.key_set());
    REQUIRE(keys.has_value());
    return a2a::verify_card(*core::parse_json(body), *keys).has_value();
}

bool is_signed(const std::string& body)
{
    return core::parse_json(body)->contains("signatures");
}

}  // namespace

TEST_CASE("A card of 1.0 is signed for those who ask for 1.0 and those who name no version, one of 0.3 is not")
{
    const auto signer = new_signer();
    const auto card = rendered(modern, card_shape::automatic, {&signer, base});
    REQUIRE(card.has_value());
    CHECK(card->signed_by == signer.kid());
    CHECK(verifies(card->bytes->body, signer));
    CHECK(card->bytes->v1 == nullptr);
    REQUIRE(card->bytes->v03 != nullptr);
    CHECK_FALSE(is_signed(card->bytes->v03->body));
    CHECK(core::parse_json(card->bytes->body)->contains("supportedInterfaces"));
}

TEST_CASE("A card that its agent writes in 0.3 is signed for those who ask for 1.0")
{
    const auto signer = new_signer();
    const auto card = rendered(
        R"({"name":"a","url":"http://agent","protocolVersion":"0.3.0"})",
        card_shape::automatic,
        {&signer, base}
    );
    REQUIRE(card.has_value());
    CHECK_FALSE(is_signed(card->bytes->body));
    REQUIRE(card->bytes->v1 != nullptr);
    CHECK(verifies(card->bytes->v1->body, signer));
}

TEST_CASE("The card of an MCP server is signed for those who ask for 1.0")
{
    const auto signer = new_signer();
    mcp::server_lists lists;
    lists.server.name = "lists";
    const mcp::card_request asked{.agent_id = "a", .at = address};
    const auto card = cards_test::render_at_once({lists, asked, {&signer, base}});
    REQUIRE(card.has_value());
    CHECK(card->signed_by == signer.kid());
    CHECK_FALSE(is_signed(card->bytes->body));
    REQUIRE(card->bytes->v1 != nullptr);
    CHECK(verifies(card->bytes->v1->body, signer));
    REQUIRE(card->bytes->v03 != nullptr);
    CHECK_FALSE(is_signed(card->bytes->v03->body));
}

TEST_CASE("The tag of a signed card is weak, the same for the same card and key, and another for others")
{
    const auto bytes_of = [](std::string_view text, const card_signer& signer) {
        return rendered(text, card_shape::v1, {&signer, base})->bytes;
    };
    const auto signer = new_signer();
    const auto one = bytes_of(modern, signer);
    const auto same = bytes_of(modern, signer);
    CHECK(one->etag.starts_with("W/\""));
    CHECK(one->etag == same->etag);
    CHECK(one->body != same->body);
    CHECK(bytes_of(R"({"name":"b"})", signer)->etag != one->etag);
    CHECK(bytes_of(modern, new_signer())->etag != one->etag);
    CHECK(gateway::model::none_match_hits(one->etag, one->etag));
}

TEST_CASE("Without a signer a card is served as it was, and its tag is strong")
{
    const auto card = rendered(modern, card_shape::automatic, {nullptr, base});
    REQUIRE(card.has_value());
    CHECK(card->signed_by.empty());
    CHECK(card->bytes->etag.starts_with('"'));
    CHECK(core::parse_json(card->bytes->body)->contains("x-own"));
}

TEST_CASE("With bridging a card has three variants: the hybrid for who names no version, and one of each generation")
{
    const a2a::public_address bridged{.base = address.base, .bridged = true};
    for (const std::string_view text : {std::string_view{modern}, old}) {
        CAPTURE(text);
        const auto card = rendered(text, card_shape::automatic, {nullptr, base}, bridged);
        REQUIRE(card.has_value());
        const auto hybrid = *core::parse_json(card->bytes->body);
        CHECK(hybrid.at("protocol") == "a2a");
        CHECK(hybrid.at("supportedInterfaces").size() == 4);
        CHECK(hybrid.at("url") == address.base);
        REQUIRE(card->bytes->v1 != nullptr);
        REQUIRE(card->bytes->v03 != nullptr);
        const auto v1 = *core::parse_json(card->bytes->v1->body);
        CHECK(v1.at("supportedInterfaces") == hybrid.at("supportedInterfaces"));
        CHECK_FALSE(v1.contains("url"));
        CHECK_FALSE(v1.contains("protocol"));
        const auto v03 = *core::parse_json(card->bytes->v03->body);
        CHECK(v03.at("url") == address.base);
        CHECK_FALSE(v03.contains("supportedInterfaces"));
        CHECK(card->bytes->etag != card->bytes->v1->etag);
        CHECK(card->bytes->etag != card->bytes->v03->etag);
        CHECK(card->bytes->v1->etag != card->bytes->v03->etag);
        for (const auto* each : {card->bytes.get(), card->bytes->v1.get(), card->bytes->v03.get()}) {
            CHECK(each->validators.ends_with("\r\nVary: A2A-Version\r\n"));
        }
    }
}

TEST_CASE("With bridging a shape that is fixed is everybody's")
{
    const a2a::public_address bridged{.base = address.base, .bridged = true};
    const auto card = rendered(old, card_shape::v1, {nullptr, base}, bridged);
    REQUIRE(card.has_value());
    CHECK_FALSE(card->bytes->by_version);
    CHECK(core::parse_json(card->bytes->body)->at("supportedInterfaces").size() == 4);
}

TEST_CASE(
    "With bridging a hybrid is not signed, so that who names no version gets a signed card of 1.0 if the agent wrote "
    "one"
)
{
    const a2a::public_address bridged{.base = address.base, .bridged = true};
    const auto signer = new_signer();
    const auto of_1 = rendered(modern, card_shape::automatic, {&signer, base}, bridged);
    REQUIRE(of_1.has_value());
    CHECK(verifies(of_1->bytes->body, signer));
    CHECK_FALSE(core::parse_json(of_1->bytes->body)->contains("url"));
    const auto of_0 = rendered(old, card_shape::automatic, {&signer, base}, bridged);
    REQUIRE(of_0.has_value());
    CHECK_FALSE(is_signed(of_0->bytes->body));
    CHECK(core::parse_json(of_0->bytes->body)->contains("url"));
    REQUIRE(of_0->bytes->v1 != nullptr);
    CHECK(verifies(of_0->bytes->v1->body, signer));
}

TEST_SUITE_END();
