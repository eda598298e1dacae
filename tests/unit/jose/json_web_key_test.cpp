#include "jose/json_web_key.hpp"

#include "core/base64.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("jose/json_web_key");

namespace {

using core::base64url;
using core::errc;
using core::from_base64url;
using core::json;
using jose::json_web_key;
using jose::jws_algorithm;

const json rfc7515_key = {
    {"kty", "EC"},
    {"crv", "P-256"},
    {"x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"},
    {"y", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
};

const json rfc8037_key = {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}};

const json rfc7638_key = {
    {"kty", "RSA"},
    {"n",
     "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_"
     "BJECPebWKRXjBZCiFV4n3oknjhMst"
     "n64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_"
     "FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajr"
     "n1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"},
    {"e", "AQAB"},
    {"kid", "2011-04-29"},
    {"alg", "RS256"}
};

json with(json jwk, const char* member, json value)
{
    jwk[member] = std::move(value);
    return jwk;
}

// RSASSA-PSS as OpenSSL makes it.
std::string pss_signature(const a2a_test::key_pointer& key, const EVP_MD* digest, std::string_view message)
{
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
    EVP_PKEY_CTX* parameters = nullptr;
    REQUIRE(EVP_DigestSignInit(context.get(), &parameters, digest, nullptr, key.get()) == 1);
    REQUIRE(EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1);
    REQUIRE(EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1);
    std::string made(512, '\0');
    auto length = made.size();
    const auto* from = reinterpret_cast<const unsigned char*>(message.data());
    auto* to = reinterpret_cast<unsigned char*>(made.data());
    REQUIRE(EVP_DigestSign(context.get(), to, &length, from, message.size()) == 1);
    made.resize(length);
    return made;
}

}  // namespace

TEST_CASE("the signature of RFC 7515 appendix A.3 verifies, and with any bit changed it does not")
{
    const auto key = json_web_key::from_jwk(rfc7515_key).value();
    const std::string message =
        "eyJhbGciOiJFUzI1NiJ9."
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const auto signature =
        from_base64url("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
            .value();
    CHECK(key.verifies(jws_algorithm::es256, message, signature));
    for (std::size_t i = 0; i < signature.size(); ++i) {
        auto changed = signature;
        changed[i] = static_cast<char>(changed[i] ^ 0x10);
        CHECK_FALSE(key.verifies(jws_algorithm::es256, message, changed));
    }
    for (std::size_t i = 0; i < message.size(); ++i) {
        auto changed = message;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        CHECK_FALSE(key.verifies(jws_algorithm::es256, changed, signature));
    }
    CHECK_FALSE(key.verifies(jws_algorithm::es256, message, signature.substr(1)));
    CHECK_FALSE(key.verifies(jws_algorithm::es256, message, signature + '\0'));
    CHECK_FALSE(key.verifies(jws_algorithm::es256, message, ""));
    CHECK_FALSE(key.verifies(jws_algorithm::es256, message, std::string(64, '\0')));
    CHECK_FALSE(key.verifies(jws_algorithm::rs256, message, signature));
    CHECK_FALSE(key.verifies(jws_algorithm::es384, message, signature));
}

TEST_CASE("the signature and the thumbprint of RFC 8037 appendix A are right")
{
    const auto key = json_web_key::from_jwk(rfc8037_key).value();
    const auto signature =
        from_base64url("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
            .value();
    CHECK(key.verifies(jws_algorithm::eddsa, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc", signature));
    CHECK_FALSE(
        key.verifies(jws_algorithm::eddsa, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmd", signature)
    );
    CHECK(key.thumbprint() == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

TEST_CASE("the thumbprint of RFC 7638 section 3.1 is right, and the key is itself again")
{
    const auto key = json_web_key::from_jwk(rfc7638_key).value();
    CHECK(key.thumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    CHECK(key.kid() == "2011-04-29");
    CHECK(key.jwk() == with(rfc7638_key, "use", "sig"));
}

TEST_CASE("what a private key signs, its public half verifies, and no other key")
{
    const std::pair<a2a_test::key_pointer, jws_algorithm> kinds[] = {
        {a2a_test::ec_key("P-256"), jws_algorithm::es256},
        {a2a_test::ec_key("P-384"), jws_algorithm::es384},
        {a2a_test::ec_key("P-521"), jws_algorithm::es512},
        {a2a_test::rsa_key(2048), jws_algorithm::rs256},
        {a2a_test::edwards_key(), jws_algorithm::eddsa},
    };
    const auto other = json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), "").value();
    for (const auto& [generated, algorithm] : kinds) {
        CAPTURE(jose::name(algorithm));
        const auto key = json_web_key::from_pem(a2a_test::pem(generated), "").value();
        CHECK(key.algorithm() == algorithm);
        CHECK(key.kid() == key.thumbprint());
        const auto jwk = key.jwk();
        CHECK_FALSE(jwk.contains("d"));
        const auto published = json_web_key::from_jwk(jwk).value();
        CHECK(published.kid() == key.kid());
        for (int i = 0; i < 20; ++i) {
            const auto message = "message " + std::to_string(i);
            const auto signature = key.sign(message).value();
            CHECK(published.verifies(algorithm, message, signature));
            CHECK_FALSE(published.verifies(algorithm, message + ' ', signature));
            CHECK_FALSE(other.verifies(other.algorithm(), message, signature));
        }
    }
}

TEST_CASE("RSASSA-PSS verifies with a key that is not for another algorithm only")
{
    const auto generated = a2a_test::rsa_key(2048);
    auto jwk = json_web_key::from_pem(a2a_test::pem(generated), "").value().jwk();
    const auto only_pkcs1 = json_web_key::from_jwk(jwk).value();
    jwk.erase("alg");
    const auto any = json_web_key::from_jwk(jwk).value();
    const auto signature = pss_signature(generated, EVP_sha384(), "message");
    CHECK(any.verifies(jws_algorithm::ps384, "message", signature));
    CHECK_FALSE(any.verifies(jws_algorithm::ps256, "message", signature));
    CHECK_FALSE(any.verifies(jws_algorithm::rs384, "message", signature));
    CHECK_FALSE(only_pkcs1.verifies(jws_algorithm::ps384, "message", signature));
}

TEST_CASE("none and the symmetric algorithms do not exist")
{
    for (const auto* each : {"none", "None", "HS256", "HS384", "HS512", "", "es256", "ES256K", "RSA1_5"}) {
        CAPTURE(each);
        CHECK_FALSE(jose::jws_algorithm_named(each).has_value());
    }
    CHECK(jose::jws_algorithm_named("ES256") == jws_algorithm::es256);
}

TEST_CASE("a JWK that cannot be used is refused")
{
    auto weak = json_web_key::from_pem(a2a_test::pem(a2a_test::rsa_key(1024)), "");
    REQUIRE_FALSE(weak.has_value());
    CHECK(weak.error().code == errc::config_invalid);
    for (const auto& bad : {
             json::object(),
             json::array(),
             json{{"kty", "oct"}, {"k", "c2VjcmV0"}},
             with(rfc7515_key, "use", "enc"),
             with(rfc7515_key, "use", 1),
             with(rfc7515_key, "use", nullptr),
             with(rfc7515_key, "key_ops", json::array({"sign"})),
             with(rfc7515_key, "key_ops", "sign"),
             with(rfc7515_key, "kid", 7),
             with(rfc7515_key, "alg", 7),
             with(rfc7515_key, "alg", "RS256"),
             with(rfc7515_key, "alg", "none"),
             with(rfc7515_key, "crv", "P-384"),
             with(rfc7515_key, "crv", "secp256k1"),
             with(rfc7515_key, "x", "AA"),
             with(rfc7515_key, "y", rfc7515_key["x"]),  // not on the curve
             with(rfc7515_key, "x", 1),
             with(rfc8037_key, "crv", "X25519"),
             with(rfc8037_key, "x", "AA"),
             with(rfc7638_key, "n", "AQAB"),
             with(rfc7638_key, "e", ""),
             with(rfc7638_key, "e", "AQ"),
             with(rfc7638_key, "e", "AAE"),
             with(rfc7638_key, "e", "AAAA"),
             with(rfc7638_key, "e", "AQAC"),
             with(rfc7638_key, "n", std::string(20'000, 'z')),
         }) {
        CAPTURE(bad.dump());
        const auto key = json_web_key::from_jwk(bad);
        REQUIRE_FALSE(key.has_value());
        CHECK(key.error().code == errc::card_signature);
    }
}

TEST_CASE("a key set gives the keys that can be used, and what is no set is refused")
{
    const auto keys = jose::parse_key_set(
        json{{"keys", json::array({rfc7515_key, {{"kty", "oct"}}, 1, with(rfc8037_key, "kid", "two")})}}.dump()
    );
    REQUIRE(keys.has_value());
    REQUIRE(keys->size() == 2);
    CHECK((*keys)[1].kid() == "two");
    for (const auto* bad : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":)"}) {
        CAPTURE(bad);
        CHECK_FALSE(jose::parse_key_set(bad).has_value());
    }
}

TEST_CASE("a key set of more than a thousand keys is refused")
{
    auto keys = json::array();
    for (std::size_t i = 0; i < jose::max_keys_in_set; ++i) {
        keys.push_back(rfc8037_key);
    }
    CHECK(jose::parse_key_set(json{{"keys", keys}}.dump()).value().size() == jose::max_keys_in_set);
    keys.push_back(rfc8037_key);
    CHECK_FALSE(jose::parse_key_set(json{{"keys", keys}}.dump()).has_value());
}

TEST_CASE("a text without a private key is refused, and its words are nobody's")
{
    for (const auto* bad : {"", "SECRET", "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n"}) {
        const auto key = json_web_key::from_pem(bad, "");
        REQUIRE_FALSE(key.has_value());
        CHECK(key.error().code == errc::config_invalid);
        CHECK(key.error().detail.find("SECRET") == std::string::npos);
    }
}

TEST_SUITE_END();
