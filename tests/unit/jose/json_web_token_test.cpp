#include "jose/json_web_token.hpp"

#include "core/base64.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("jose/json_web_token");

namespace {

using core::base64url;
using jose::json_web_key;
using jose::json_web_token;
using jose::jws_algorithm;
using namespace std::chrono_literals;

const core::wall_time now{std::chrono::seconds{1'800'000'000}};

json_web_key new_key(const a2a_test::key_pointer& key, std::string kid = "k1")
{
    return json_web_key::from_pem(a2a_test::pem(key), std::move(kid)).value();
}

const json_web_key& ec_key()
{
    static const auto key = new_key(a2a_test::ec_key("P-256"));
    return key;
}

std::string token_of(const std::string& header, const std::string& claims, const json_web_key& key = ec_key())
{
    const auto text = base64url(header) + '.' + base64url(claims);
    return text + '.' + base64url(key.sign(text).value());
}

const std::string es256 = R"({"alg":"ES256","kid":"k1","typ":"JWT"})";
const std::string good_claims =
    R"({"iss":"https://idp.example","aud":"cardea","sub":"alice","exp":1800000100,"iat":1799999990})";

const jose::token_policy policy{
    .issuer = "https://idp.example",
    .audiences = {"cardea", "https://gateway.example"},
    .algorithms = {jws_algorithm::es256, jws_algorithm::rs256},
};

std::string claims_with(const std::string& members)
{
    return R"({"sub":"alice",)" + members + "}";
}

json_web_key published(const json_web_key& key)
{
    return json_web_key::from_jwk(key.jwk()).value();
}

template <class... Keys>
std::vector<json_web_key> key_list(Keys... keys)
{
    std::vector<json_web_key> list;
    (list.push_back(std::move(keys)), ...);
    return list;
}

bool accepted(const std::string& text, const json_web_key& key = ec_key(), core::wall_time at = now)
{
    const auto token = json_web_token::parse(text);
    return token && token->signed_by(key_list(published(key))) && token->check(policy, at).has_value();
}

bool claims_hold(const std::string& claims, core::wall_time at = now)
{
    const auto token = json_web_token::parse(token_of(es256, claims)).value();
    return token.check(policy, at).has_value();
}

}  // namespace

TEST_CASE("a token that the provider's key signed for this gateway is accepted until it expires")
{
    const auto text = token_of(es256, good_claims);
    CHECK(accepted(text));
    const auto token = json_web_token::parse(text).value();
    CHECK(token.kid() == "k1");
    CHECK(token.algorithm() == jws_algorithm::es256);
    CHECK(core::string_member(token.claims(), "sub") != nullptr);
    CHECK(token.expires_at() == core::wall_time{std::chrono::seconds{1'800'000'100}});
}

TEST_CASE("a token counts only if not one bit of it has changed")
{
    const auto text = token_of(es256, good_claims);
    unsigned refused = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        refused += accepted(changed) ? 0U : 1U;
    }
    CHECK(refused == text.size());
}

TEST_CASE("an algorithm that is symmetric, none, unknown or missing is refused before any key is tried")
{
    for (const auto* algorithm :
         {R"("none")", R"("None")", R"("NONE")", R"("")", R"("HS256")", R"("HS512")", R"("es256")", "1", "null"}) {
        CAPTURE(algorithm);
        CHECK_FALSE(
            json_web_token::parse(token_of(std::string{R"({"alg":)"} + algorithm + "}", good_claims)).has_value()
        );
    }
    CHECK_FALSE(json_web_token::parse(token_of(R"({"kid":"k1"})", good_claims)).has_value());
    CHECK_FALSE(json_web_token::parse(base64url(R"({"alg":"none"})") + '.' + base64url(good_claims) + '.').has_value());
}

TEST_CASE("an algorithm of another kind of key, or one that the provider does not allow, is refused")
{
    const auto rsa = new_key(a2a_test::rsa_key(2048));
    CHECK(accepted(token_of(R"({"alg":"RS256","kid":"k1"})", good_claims, rsa), rsa));
    CHECK_FALSE(accepted(token_of(R"({"alg":"ES256","kid":"k1"})", good_claims, rsa), rsa));
    CHECK_FALSE(accepted(token_of(R"({"alg":"PS256","kid":"k1"})", good_claims, rsa), rsa));
    CHECK_FALSE(accepted(token_of(R"({"alg":"RS256","kid":"k1"})", good_claims)));
    const auto larger = new_key(a2a_test::ec_key("P-384"));
    CHECK_FALSE(accepted(token_of(R"({"alg":"ES384","kid":"k1"})", good_claims, larger), larger));
}

TEST_CASE("a key that is published for one algorithm verifies no other")
{
    const auto rsa = new_key(a2a_test::rsa_key(2048));
    auto jwk = rsa.jwk();
    jwk["alg"] = "PS256";
    const auto token = json_web_token::parse(token_of(R"({"alg":"RS256","kid":"k1"})", good_claims, rsa)).value();
    CHECK_FALSE(token.signed_by(key_list(json_web_key::from_jwk(jwk).value())));
}

TEST_CASE("a header that brings its own key, or changes how the token is read, is refused")
{
    const auto own_key = core::to_text(ec_key().jwk());
    for (const auto& member : std::vector<std::string>{
             R"("jwk":)" + own_key,
             R"("jku":"https://evil.example/keys")",
             R"("x5u":"https://evil.example/chain")",
             R"("x5c":["MIIB"])",
             R"("crit":["exp"])",
             R"("crit":[])",
             R"("b64":false)",
             R"("b64":true)",
             R"("cty":"JWT")",
             R"("enc":"A256GCM")",
             R"("zip":"DEF")",
             R"("typ":"dpop+jwt")",
             R"("typ":"logout+jwt")",
             R"("typ":7)",
             R"("kid":7)",
             R"("alg":"ES256")"
         }) {
        CAPTURE(member);
        CHECK_FALSE(json_web_token::parse(token_of(R"({"alg":"ES256",)" + member + "}", good_claims)).has_value());
    }
    for (const auto* type : {"JWT", "jwt", "at+jwt", "application/at+jwt"}) {
        CHECK(json_web_token::parse(token_of(R"({"alg":"ES256","typ":")" + std::string{type} + "\"}", good_claims))
                  .has_value());
    }
}

TEST_CASE("a text that is not exactly three parts of base64url with two objects is refused")
{
    const auto good = token_of(es256, good_claims);
    const auto signature = good.substr(good.rfind('.') + 1);
    const auto parts = [&](const std::string& header, const std::string& claims) {
        return header + '.' + claims + '.' + signature;
    };
    for (const auto& text : std::vector<std::string>{
             "",
             ".",
             "..",
             base64url(es256) + '.' + base64url(good_claims),
             good + '.',
             good + ".a.b",
             '.' + good,
             good + "=",
             good + "\n",
             ' ' + good,
             parts(base64url(es256) + "==", base64url(good_claims)),
             parts(base64url("[]"), base64url(good_claims)),
             parts(base64url("{"), base64url(good_claims)),
             parts(base64url(es256), base64url("[]")),
             parts(base64url(es256), base64url("\"a\"")),
             parts(base64url(es256), base64url("no JSON")),
             parts(base64url(es256), base64url("")),
             parts(base64url(es256), base64url(good_claims).replace(4, 1, "+")),
             parts(base64url(es256), base64url(good_claims).replace(4, 1, "/")),
             base64url(es256) + '.' + base64url(good_claims) + '.',
             parts(base64url(es256), base64url(R"({"a":)" + std::string(1000, '[') + std::string(1000, ']') + "}")),
         }) {
        CAPTURE(text);
        CHECK_FALSE(json_web_token::parse(text).has_value());
    }
}

TEST_CASE("a token is read up to the largest size and not a byte beyond")
{
    const auto of_size = [](std::size_t size) {
        // Base64 lengths go in steps, so the claims are sized until the whole fits or is just over.
        std::string filler;
        std::string text;
        do {
            filler += 'x';
            text = token_of(es256, R"({"f":")" + filler + "\"}");
        } while (text.size() < size);
        return text;
    };
    const auto over = of_size(jose::max_token_size + 1);
    CHECK_FALSE(json_web_token::parse(over).has_value());
    const auto near = of_size(jose::max_token_size - 2);
    REQUIRE(near.size() <= jose::max_token_size);
    CHECK(json_web_token::parse(near).has_value());
}

TEST_CASE("claims that readers may understand differently are refused")
{
    for (const auto* claims :
         {R"({"sub":"a","sub":"b"})",
          R"({"aud":"x","aud":"cardea"})",
          R"({"exp":1,"exp":1800000100})",
          R"({"a":{"b":1,"b":2}})",
          R"({"n":9007199254740993})",
          R"({"n":18446744073709551617})",
          R"({"exp":1e400})"}) {
        CAPTURE(claims);
        CHECK_FALSE(json_web_token::parse(token_of(es256, claims)).has_value());
    }
}

TEST_CASE("the issuer is compared byte for byte")
{
    const std::string rest = R"(,"aud":"cardea","exp":1800000100)";
    CHECK(claims_hold(claims_with(R"("iss":"https://idp.example")" + rest)));
    for (const auto* issuer :
         {R"("https://idp.example/")",
          R"("https://IDP.example")",
          R"("https://idp.example.evil")",
          R"("")",
          "null",
          R"(["https://idp.example"])"}) {
        CAPTURE(issuer);
        CHECK_FALSE(claims_hold(claims_with(std::string{R"("iss":)"} + issuer + rest)));
    }
    CHECK_FALSE(claims_hold(R"({"aud":"cardea","exp":1800000100})"));
}

TEST_CASE("the audience names this gateway, alone or in a list of strings")
{
    const std::string rest = R"("iss":"https://idp.example","exp":1800000100,"aud":)";
    for (const auto* audience : {R"("cardea")", R"(["x","cardea"])", R"(["https://gateway.example"])"}) {
        CAPTURE(audience);
        CHECK(claims_hold(claims_with(rest + audience)));
    }
    for (const auto* audience :
         {R"("carde")",
          R"("cardea2")",
          R"("CARDEA")",
          R"("")",
          "[]",
          R"(["x"])",
          R"(["cardea",7])",
          "7",
          "null",
          R"({"cardea":1})"}) {
        CAPTURE(audience);
        CHECK_FALSE(claims_hold(claims_with(rest + audience)));
    }
    CHECK_FALSE(claims_hold(R"({"iss":"https://idp.example","exp":1800000100})"));
}

TEST_CASE("A client stands for the audience only in an access token without aud, and only where the policy has clients")
{
    // As Amazon Cognito writes its access tokens.
    const std::string token = R"("iss":"https://idp.example","exp":1800000100,)";
    auto cognito = policy;
    cognito.audiences.clear();
    cognito.clients = {"7lk3", "8mn4"};
    const auto holds = [&](const jose::token_policy& by, const std::string& members) {
        return json_web_token::parse(token_of(es256, claims_with(token + members))).value().check(by, now).has_value();
    };
    CHECK(holds(cognito, R"("client_id":"7lk3","token_use":"access")"));
    CHECK(holds(cognito, R"("client_id":"8mn4","token_use":"access")"));
    for (const auto* members :
         {R"("client_id":"7lk","token_use":"access")",
          R"("client_id":"","token_use":"access")",
          R"("client_id":["7lk3"],"token_use":"access")",
          R"("client_id":null,"token_use":"access")",
          R"("client_id":"7lk3","token_use":"id")",
          R"("client_id":"7lk3","token_use":["access"])",
          R"("client_id":"7lk3")",
          R"("token_use":"access")",
          R"("azp":"7lk3","token_use":"access")",
          R"("aud":"7lk3","token_use":"id")",
          R"("aud":"cardea","client_id":"7lk3","token_use":"access")",
          R"("aud":null,"client_id":"7lk3","token_use":"access")",
          R"("aud":[],"client_id":"7lk3","token_use":"access")"}) {
        CAPTURE(members);
        CHECK_FALSE(holds(cognito, members));
    }
    CHECK_FALSE(holds(policy, R"("client_id":"cardea","token_use":"access")"));
    auto both = cognito;
    both.audiences = {"cardea"};
    CHECK(holds(both, R"("client_id":"7lk3","token_use":"access")"));
    CHECK(holds(both, R"("aud":"cardea","client_id":"other")"));
    CHECK_FALSE(holds(both, R"("aud":"elsewhere","client_id":"7lk3","token_use":"access")"));
    CHECK_FALSE(holds(
        {.issuer = policy.issuer, .audiences = {}, .algorithms = policy.algorithms},
        R"("client_id":"","token_use":"access")"
    ));
}

TEST_CASE("dates are numbers of seconds and hold up to the leeway")
{
    const std::string rest = R"("iss":"https://idp.example","aud":"cardea")";
    const auto holds = [&](const std::string& dates) { return claims_hold(claims_with(rest + dates)); };
    SUBCASE("a token has expired once the leeway is over")
    {
        CHECK(holds(R"(,"exp":1799999971)"));
        CHECK_FALSE(holds(R"(,"exp":1799999970)"));
        CHECK(holds(R"(,"exp":1799999970.5)"));
    }
    SUBCASE("a token without a date of expiry, or with one that is not a date, is refused")
    {
        CHECK_FALSE(holds(""));
        for (const auto* date : {R"("1800000100")", "null", "true", "-1", "1e300", "253402300801", "[1800000100]"}) {
            CAPTURE(date);
            CHECK_FALSE(holds(std::string{R"(,"exp":)"} + date));
        }
    }
    SUBCASE("a token does not count before its time, by more than the leeway")
    {
        for (const auto* name : {"nbf", "iat"}) {
            CAPTURE(name);
            const auto with = [&](const std::string& date) {
                return holds(R"(,"exp":1800000100,")" + std::string{name} + "\":" + date);
            };
            CHECK(with("1800000030"));
            CHECK_FALSE(with("1800000031"));
            CHECK_FALSE(with(R"("1799999999")"));
            CHECK_FALSE(with("-5"));
        }
    }
}

TEST_CASE("a key is found by its id, and a token without one is tried with a bounded number of keys")
{
    const auto token = json_web_token::parse(token_of(es256, good_claims)).value();
    const auto anonymous = json_web_token::parse(token_of(R"({"alg":"ES256"})", good_claims)).value();
    const auto other = new_key(a2a_test::ec_key("P-256"), "k2");
    CHECK(token.signed_by(key_list(published(other), published(ec_key()))));
    auto renamed = ec_key().jwk();
    renamed["kid"] = "k2";
    CHECK_FALSE(token.signed_by(key_list(json_web_key::from_jwk(renamed).value())));
    CHECK(anonymous.signed_by(key_list(json_web_key::from_jwk(renamed).value())));

    std::vector<json_web_key> keys;
    for (std::size_t i = 0; i + 1 < jose::max_token_verifications; ++i) {
        keys.push_back(published(other));
    }
    keys.push_back(published(ec_key()));
    CHECK(anonymous.signed_by(keys));
    keys.insert(keys.begin(), published(other));
    CHECK_FALSE(anonymous.signed_by(keys));
}

TEST_CASE("an ECDSA signature is two numbers of the curve's size, both above zero")
{
    const auto text = base64url(es256) + '.' + base64url(good_claims);
    for (const auto& signature : std::vector<std::string>{
             std::string(64, '\0'),
             std::string(32, '\0') + std::string(32, '\1'),
             std::string(32, '\1') + std::string(32, '\0'),
             std::string(63, '\1'),
             std::string(65, '\1'),
             std::string(64, '\xFF'),
             "\x30\x06\x02\x01\x01\x02\x01\x01"
         }) {
        CHECK_FALSE(accepted(text + '.' + base64url(signature)));
    }
}

TEST_SUITE_END();
