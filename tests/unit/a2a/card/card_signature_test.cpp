#include "a2a/card/card_signature.hpp"

#include "core/base64.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("a2a/card/card_signature");

namespace {

using core::base64url;
using core::errc;
using core::json;
using jose::json_web_key;

json parsed(std::string_view text)
{
    return core::parse_json(text).value();
}

const json card = parsed(R"({
    "name": "Größe \ud83d\ude00", "description": "", "version": "1", "supportedInterfaces": [{"url": "https://h/", "tenant": ""}],
    "capabilities": {"streaming": false, "extensions": []}, "skills": [], "provider": {"url": "", "organization": ""},
    "x-number": 1e2
})");

json_web_key new_key(std::string kid = "k1")
{
    return json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), std::move(kid)).value();
}

std::vector<json_web_key> public_half(const json_web_key& key)
{
    std::vector<json_web_key> keys;
    keys.push_back(json_web_key::from_jwk(key.jwk()).value());
    return keys;
}

json signature_of(const json_web_key& key, const json& header, std::string_view payload)
{
    const auto encoded = base64url(header.dump());
    const auto made = key.sign(encoded + '.' + base64url(payload)).value();
    return {{"protected", encoded}, {"signature", base64url(made)}};
}

json header_of(const json_web_key& key)
{
    return {{"alg", "ES256"}, {"kid", key.kid()}};
}

json signed_with(const json& signature)
{
    auto out = card;
    out["signatures"] = json::array({signature});
    return out;
}

errc refusal(const json& document, const std::vector<json_web_key>& keys)
{
    const auto verified = a2a::verify_card(document, keys);
    return verified ? errc::internal : verified.error().code;
}

}  // namespace

TEST_CASE("a card that was signed here verifies, and with anything changed it does not")
{
    const auto key = new_key();
    auto made = card;
    made["signatures"] = json::array({"of somebody else"});
    made = a2a::signable_card(std::move(made));
    made["description"] = "d";
    made["skills"] = json::array({{{"id", "s"}}});
    REQUIRE(a2a::sign_card(made, key, "https://gateway/.well-known/jwks.json").has_value());
    REQUIRE(made["signatures"].size() == 1);
    const auto verified = a2a::verify_card(made, public_half(key));
    REQUIRE(verified.has_value());
    CHECK(verified->kid == "k1");
    CHECK(verified->key_set_url == "https://gateway/.well-known/jwks.json");
    CHECK(
        core::from_base64url(verified->protected_header) ==
        R"({"alg":"ES256","typ":"JOSE","kid":"k1","jku":"https://gateway/.well-known/jwks.json"})"
    );

    const auto text = made.dump();
    int changes = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        const auto document = core::parse_json(changed);
        if (document && document->is_object() && *document != made) {
            ++changes;
            CAPTURE(changed);
            const bool still = a2a::verify_card(*document, public_half(key)).has_value();
            CHECK_FALSE(still);
        }
    }
    CHECK(changes > 200);
}

TEST_CASE("what was signed may be the card as it stands, or without what is empty, or as Python wrote that")
{
    const auto key = new_key();
    for (const std::string payload : {
             "{\"capabilities\":{\"extensions\":[],\"streaming\":false},\"description\":\"\",\"name\":\"Größe "
             "\U0001F600\","
             "\"provider\":{\"organization\":\"\",\"url\":\"\"},\"skills\":[],"
             "\"supportedInterfaces\":[{\"tenant\":\"\",\"url\":\"https://h/\"}],\"version\":\"1\",\"x-number\":100}",
             "{\"capabilities\":{\"streaming\":false},\"name\":\"Größe \U0001F600\","
             "\"supportedInterfaces\":[{\"url\":\"https://h/\"}],\"version\":\"1\",\"x-number\":100}",
             "{\"capabilities\":{\"streaming\":false},\"name\":\"Gr\\u00f6\\u00dfe \\ud83d\\ude00\","
             "\"supportedInterfaces\":[{\"url\":\"https://h/\"}],\"version\":\"1\",\"x-number\":100.0}",
         }) {
        CAPTURE(payload);
        CHECK(a2a::verify_card(signed_with(signature_of(key, header_of(key), payload)), public_half(key)).has_value());
        CHECK(
            refusal(signed_with(signature_of(key, header_of(key), payload + ' ')), public_half(key)) ==
            errc::card_signature
        );
    }
}

TEST_CASE("one good signature among several is enough, also during a change of keys")
{
    const auto old_key = new_key("old");
    const auto key = new_key("new");
    const auto other = new_key("new");
    auto first = card;
    REQUIRE(a2a::sign_card(first, old_key, "").has_value());
    auto second = card;
    REQUIRE(a2a::sign_card(second, key, "").has_value());
    auto both = card;
    both["signatures"] = json::array({1, json::object(), first["signatures"][0], second["signatures"][0]});
    CHECK(a2a::verify_card(both, public_half(old_key))->kid == "old");
    CHECK(a2a::verify_card(both, public_half(key))->kid == "new");
    const auto refused = a2a::verify_card(both, public_half(other));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().detail == "old: no such key; new: the signature is wrong");
}

TEST_CASE("what is not signed, or not in a way that can be verified, is refused")
{
    const auto key = new_key();
    const auto keys = public_half(key);
    const std::string payload = R"({"name":"a"})";
    const auto with_header = [&](json header) {
        json document = {{"name", "a"}};
        document["signatures"] = json::array({signature_of(key, header, payload)});
        return document;
    };
    CHECK(a2a::verify_card(with_header(header_of(key)), keys).has_value());
    for (const auto& document : {
             json{{"name", "a"}},
             json{{"name", "a"}, {"signatures", json::array()}},
             json{{"name", "a"}, {"signatures", json::object()}},
             json{{"name", "a"}, {"signatures", json::array({{{"protected", "e30"}, {"signature", ""}}})}},
             with_header({{"alg", "none"}, {"kid", "k1"}}),
             with_header({{"alg", "HS256"}, {"kid", "k1"}}),
             with_header({{"alg", "RS256"}, {"kid", "k1"}}),
             with_header({{"alg", "ES256"}}),
             with_header({{"alg", "ES256"}, {"kid", "k2"}}),
             with_header({{"alg", "ES256"}, {"kid", "k1"}, {"crit", json::array({"exp"})}, {"exp", 1}}),
             with_header({{"alg", "ES256"}, {"kid", "k1"}, {"b64", false}}),
             with_header(json::array()),
         }) {
        CAPTURE(document.dump());
        CHECK(refusal(document, keys) == errc::card_signature);
    }
    CHECK(refusal(with_header(header_of(key)), {}) == errc::card_signature);
}

TEST_CASE("the empty signature that none asks for is refused")
{
    const auto encoded = base64url(R"({"alg":"none","kid":"k1"})");
    const json document = {{"name", "a"}, {"signatures", json::array({{{"protected", encoded}, {"signature", ""}}})}};
    CHECK(refusal(document, public_half(new_key())) == errc::card_signature);
}

TEST_CASE("signatures beyond the bound are not looked at")
{
    const auto key = new_key();
    const auto good = signature_of(key, header_of(key), R"({"name":"a"})");
    json document = {{"name", "a"}, {"signatures", json::array()}};
    for (std::size_t i = 1; i < a2a::max_card_signatures; ++i) {
        document["signatures"].push_back(1);
    }
    auto beyond = document;
    beyond["signatures"].push_back(1);
    beyond["signatures"].push_back(good);
    document["signatures"].push_back(good);
    CHECK(a2a::verify_card(document, public_half(key)).has_value());
    CHECK(refusal(beyond, public_half(key)) == errc::card_signature);
}

TEST_CASE("what is empty goes, and what becomes empty by that, too")
{
    CHECK(
        a2a::without_empty_members(parsed(R"({"a":"","b":[],"c":{},"d":{"e":[{}]},"f":0,"g":false,"h":null,"i":["",1]})"
        )) == parsed(R"({"f":0,"g":false,"i":[1]})")
    );
}

TEST_CASE(
    "a card to be signed keeps what is required and what its requirements of security list, and loses other defaults"
)
{
    const auto made = a2a::signable_card(parsed(R"({
        "name": "n", "description": "", "iconUrl": "", "skills": [],
        "capabilities": {"streaming": false, "extensions": [{"uri": "u", "required": false}, {"uri": "v", "required": true}]},
        "securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"authorizationCode": {"pkceRequired": false, "tokenUrl": "t"}}}}},
        "securityRequirements": [{"schemes": {"o": {"list": []}}}, {"schemes": {}}],
        "provider": {"url": ""}
    })"));
    CHECK(made == parsed(R"({
        "name": "n",
        "capabilities": {"streaming": false, "extensions": [{"uri": "u"}, {"uri": "v", "required": true}]},
        "securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"authorizationCode": {"tokenUrl": "t"}}}}},
        "securityRequirements": [{"schemes": {"o": {"list": []}}}, {"schemes": {}}],
        "description": "",
        "skills": []
    })"));
    CHECK(
        a2a::signable_card(parsed(R"({"skills":[{"id":"s","tags":[],"securityRequirements":[{"schemes":{}}]}]})")) ==
        parsed(R"({"skills":[{"id":"s","securityRequirements":[{"schemes":{}}]}]})")
    );
}

TEST_CASE("An empty list that means something stays under a signature")
{
    const auto key = new_key();
    for (const std::string member :
         {R"("defaultInputModes":[])",
          R"("defaultOutputModes":[])",
          R"("skills":[])",
          R"("capabilities":{})",
          R"("description":"")",
          R"("securityRequirements":[])",
          R"("securityRequirements":[{"schemes":{}}])",
          R"("securityRequirements":[{"schemes":{"k":{"list":[]}}}])",
          R"("skills":[{"id":"s","securityRequirements":[]}])",
          R"("skills":[{"id":"s","securityRequirements":[{"schemes":{"k":{"list":[]}}}]}])"}) {
        CAPTURE(member);
        const auto written = parsed(R"({"name":"n",)" + member + "}");
        auto made = a2a::signable_card(written);
        CHECK(made == written);
        REQUIRE(a2a::sign_card(made, key, "").has_value());
        CHECK(a2a::verify_card(made, public_half(key)).has_value());
        auto served = made;
        served.erase("signatures");
        CHECK(served == written);
    }
    // Requirements are not given to another skill when an empty one goes.
    const auto gone =
        a2a::signable_card(parsed(R"({"skills":[{},{"id":"s","securityRequirements":[{"schemes":{}}]},{"id":"t"}]})"));
    CHECK(gone["skills"] == parsed(R"([{"id":"s"},{"id":"t"}])"));
}

TEST_CASE("Of all keys that may fit, 16 are tried for one card")
{
    const auto wrong = new_key();
    const auto key = new_key();
    auto document = parsed(R"({"name":"n"})");
    REQUIRE(a2a::sign_card(document, key, "").has_value());
    for (const std::size_t others : {14U, 15U, 16U}) {
        CAPTURE(others);
        a2a::card_verification in_turn{document};
        for (std::size_t i = 0; i < others; ++i) {
            CHECK_FALSE(in_turn.verify(public_half(wrong)).has_value());
        }
        const auto last = in_turn.verify(public_half(key));
        CHECK(last.has_value() == (others < a2a::max_verifications));
        if (!last) {
            CHECK(last.error().detail.ends_with("too many signatures and keys to try"));
        }
    }
}

TEST_CASE("a card with what verifiers disagree about has a signature for each reading")
{
    const auto key = new_key();
    auto made = parsed(R"({"name":"n","securityRequirements":[{"schemes":{"b":{"list":[]}}}]})");
    REQUIRE(a2a::sign_card(made, key, "").has_value());
    REQUIRE(made["signatures"].size() == 2);
    for (const auto& each : made["signatures"]) {
        auto one = made;
        one["signatures"] = json::array({each});
        CHECK(a2a::verify_card(one, public_half(key)).has_value());
    }
}

TEST_CASE("a signature that leaves the security schemes out does not count, and the reason says so")
{
    const auto key = new_key();
    auto document = parsed(R"({"name":"a","securitySchemes":{"b":{"httpAuthSecurityScheme":{"scheme":"bearer"}}}})");
    document["signatures"] = json::array({signature_of(key, header_of(key), R"({"name":"a"})")});
    const auto refused = a2a::verify_card(document, public_half(key));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::card_signature);
    CHECK(refused.error().detail == "k1: the signature does not cover securitySchemes");
}

TEST_CASE("a false that is the default may be left out of what was signed")
{
    const auto key = new_key();
    auto document = parsed(R"({"name":"a","capabilities":{"extensions":[{"uri":"u","required":false}]}})");
    const auto with = [&](std::string_view payload) {
        document["signatures"] = json::array({signature_of(key, header_of(key), payload)});
        return a2a::verify_card(document, public_half(key)).has_value();
    };
    CHECK(with(R"({"capabilities":{"extensions":[{"required":false,"uri":"u"}]},"name":"a"})"));
    CHECK(with(R"({"capabilities":{"extensions":[{"uri":"u"}]},"name":"a"})"));
    CHECK_FALSE(with(R"({"capabilities":{"extensions":[{"required":true,"uri":"u"}]},"name":"a"})"));
}

TEST_SUITE_END();
