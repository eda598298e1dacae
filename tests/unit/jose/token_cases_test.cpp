// Tokens that attackers of other products have sent, and those that are easily refused by mistake: each is read, its signature
// verified and its claims checked, with one key set and one policy.
#include "core/base64.hpp"
#include "jose/json_web_token.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <doctest/doctest.h>
#include <openssl/bn.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("jose/token_cases");

namespace {

using core::base64url;
using jose::json_web_key;
using jose::json_web_token;
using jose::jws_algorithm;
using namespace std::chrono_literals;

const core::wall_time now{std::chrono::seconds{1'800'000'000}};

const jose::token_policy policy{
    .issuer = "https://idp.example",
    .audiences = {"cardea"},
    .algorithms = {jws_algorithm::es256, jws_algorithm::rs256},
    .leeway = 60s,
};

const std::string header = R"({"alg":"ES256","kid":"ec"})";
const std::string dates = R"("exp":1800000100,"iat":1799999990)";
const std::string claims = R"({"iss":"https://idp.example","aud":"cardea","sub":"alice",)" + dates + "}";

struct key_pair {
    a2a_test::key_pointer raw;
    json_web_key key;
};

key_pair new_pair(a2a_test::key_pointer raw, const char* kid)
{
    auto key = json_web_key::from_pem(a2a_test::pem(raw), kid).value();
    return {std::move(raw), std::move(key)};
}

struct issuer {
    key_pair ec = new_pair(a2a_test::ec_key("P-256"), "ec");
    key_pair larger = new_pair(a2a_test::ec_key("P-384"), "larger");
    key_pair rsa = new_pair(a2a_test::rsa_key(2048), "rsa");
    key_pair stranger = new_pair(a2a_test::ec_key("P-256"), "ec");

    // As an issuer publishes it; the RSA key for any algorithm of its kind.
    std::vector<json_web_key> published() const
    {
        auto any = rsa.key.jwk();
        any.erase("alg");
        const core::json set{{"keys", core::json::array({ec.key.jwk(), larger.key.jwk(), any})}};
        return jose::parse_key_set(core::to_text(set)).value();
    }
};

const issuer& idp()
{
    static const issuer made;
    return made;
}

std::string signed_with(const json_web_key& key, const std::string& text)
{
    return text + '.' + base64url(key.sign(text).value());
}

std::string token(const std::string& with_header, const std::string& with_claims)
{
    return signed_with(idp().ec.key, base64url(with_header) + '.' + base64url(with_claims));
}

std::string with_member(const std::string& member)
{
    return token(R"({"alg":"ES256","kid":"ec",)" + member + "}", claims);
}

std::string with_claims(const std::string& members)
{
    return token(header, R"({"sub":"alice",)" + members + "}");
}

std::string with_dates(const std::string& members)
{
    return with_claims(R"("iss":"https://idp.example","aud":"cardea",)" + members);
}

std::string with_issuer(const std::string& value)
{
    return with_claims(R"("aud":"cardea","exp":1800000100,"iss":)" + value);
}

std::string with_audience(const std::string& value)
{
    return with_claims(R"("iss":"https://idp.example","exp":1800000100,"aud":)" + value);
}

std::string with_signature(const std::string& signature)
{
    return base64url(header) + '.' + base64url(claims) + '.' + base64url(signature);
}

// HS256 with the text of the public RSA key as the secret.
std::string confused()
{
    const std::unique_ptr<BIO, decltype(&BIO_free)> out{BIO_new(BIO_s_mem()), &BIO_free};
    REQUIRE(PEM_write_bio_PUBKEY(out.get(), idp().rsa.raw.get()) == 1);
    char* pem = nullptr;
    const auto length = BIO_get_mem_data(out.get(), &pem);
    const auto text = base64url(R"({"alg":"HS256","kid":"rsa"})") + '.' + base64url(claims);
    std::string made(32, '\0');
    unsigned size = 0;
    HMAC(
        EVP_sha256(),
        pem,
        static_cast<int>(length),
        reinterpret_cast<const unsigned char*>(text.data()),
        text.size(),
        reinterpret_cast<unsigned char*>(made.data()),
        &size
    );
    return text + '.' + base64url(made);
}

// The good token with the other `s` that verifies as well: the order of P-256 minus it.
std::string with_other_s()
{
    const auto good = token(header, claims);
    auto raw = core::from_base64url(good.substr(good.rfind('.') + 1)).value();
    BIGNUM* order = nullptr;
    BN_hex2bn(&order, "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");
    auto* half = reinterpret_cast<unsigned char*>(raw.data()) + 32;
    BIGNUM* s = BN_bin2bn(half, 32, nullptr);
    BN_sub(s, order, s);
    BN_bn2binpad(s, half, 32);
    BN_free(s);
    BN_free(order);
    return good.substr(0, good.rfind('.') + 1) + base64url(raw);
}

std::string in_der(const std::string& text)
{
    auto raw = core::from_base64url(text.substr(text.rfind('.') + 1)).value();
    const auto integer = [](const std::string& bytes) {
        const std::string padded = (static_cast<unsigned char>(bytes[0]) & 0x80U) != 0 ? '\0' + bytes : bytes;
        return std::string{'\x02', static_cast<char>(padded.size())} + padded;
    };
    const auto both = integer(raw.substr(0, 32)) + integer(raw.substr(32));
    return std::string{'\x30', static_cast<char>(both.size())} + both;
}

bool accepts(const std::string& text)
{
    static const auto keys = idp().published();
    const auto read = json_web_token::parse(text);
    return read && read->signed_by(keys) && read->check(policy, now).has_value();
}

struct token_case {
    const char* name;
    std::string text;
};

std::vector<token_case> bad_headers()
{
    const auto& rsa = idp().rsa.key;
    const auto body = '.' + base64url(claims);
    std::vector<token_case> cases;
    for (const auto* none : {"none", "None", "NONE", ""}) {
        cases.push_back({none, base64url(R"({"alg":")" + std::string{none} + "\"}") + body + '.'});
        cases.push_back({none, token(R"({"kid":"ec","alg":")" + std::string{none} + "\"}", claims)});
    }
    const std::vector<token_case> others{
        {"HS256 keyed with the public key", confused()},
        {"RS256 called ES256", signed_with(rsa, base64url(R"({"alg":"ES256","kid":"rsa"})") + body)},
        {"RS256 called PS256", signed_with(rsa, base64url(R"({"alg":"PS256","kid":"rsa"})") + body)},
        {"ES256 called RS256", token(R"({"alg":"RS256","kid":"ec"})", claims)},
        {"alg missing", token(R"({"kid":"ec"})", claims)},
        {"alg twice", with_member(R"("alg":"none")")},
        {"ES384, which the policy does not list",
         signed_with(idp().larger.key, base64url(R"({"alg":"ES384","kid":"larger"})") + body)},
        {"ES256 by a key of another curve",
         signed_with(idp().larger.key, base64url(R"({"alg":"ES256","kid":"larger"})") + body)},
        {"unknown crit", with_member(R"("crit":["x"],"x":1)")},
        {"b64 false", with_member(R"("b64":false,"crit":["b64"])")},
        {"kid a path", token(R"({"alg":"ES256","kid":"../../../dev/null"})", claims)},
        {"kid SQL", token(R"({"alg":"ES256","kid":"x' OR '1'='1"})", claims)},
        {"kid a URL", token(R"({"alg":"ES256","kid":"https://evil.example/key"})", claims)},
        {"kid 10 kB", token(R"({"alg":"ES256","kid":")" + std::string(10'000, 'k') + "\"}", claims)},
        {"kid with a NUL behind it", token(R"({"alg":"ES256","kid":"ec\u0000"})", claims)},
        {"kid twice", with_member(R"("kid":"ec")")},
        {"kid of another key", token(R"({"alg":"ES256","kid":"rsa"})", claims)},
        {"jku", with_member(R"("jku":"https://evil.example/keys")")},
        {"x5u", with_member(R"("x5u":"https://evil.example/chain")")},
        {"jwk of the attacker",
         signed_with(
             idp().stranger.key,
             base64url(R"({"alg":"ES256","kid":"ec","jwk":)" + core::to_text(idp().stranger.key.jwk()) + "}") + body
         )},
        {"kid of a key, signed by another", signed_with(idp().stranger.key, base64url(header) + body)},
        {"nested", token(R"({"alg":"ES256","kid":"ec","cty":"JWT"})", token(header, claims))},
        {"JWE", base64url(R"({"alg":"RSA-OAEP","enc":"A256GCM"})") + ".a2V5.aXY.dGV4dA.dGFn"},
        {"another typ", with_member(R"("typ":"secevent+jwt")")},
    };
    cases.insert(cases.end(), others.begin(), others.end());
    return cases;
}

std::vector<token_case> bad_forms()
{
    const auto good = token(header, claims);
    const auto middle = good.find('.') + 1;
    const auto replaced = [&](char c) { return std::string{good}.replace(middle + 5, 1, 1, c); };
    return {
        {"no dot", base64url(header)},
        {"one dot", good.substr(0, good.rfind('.'))},
        {"three dots", good + ".x"},
        {"four dots", good + ".x.y"},
        {"padding", good + "=="},
        {"padding of the header", std::string{good}.insert(middle - 1, "=")},
        {"plus", replaced('+')},
        {"slash", replaced('/')},
        {"a space inside", replaced(' ')},
        {"a space before", ' ' + good},
        {"a line break behind", good + '\n'},
        {"a line break inside", std::string{good}.insert(middle + 8, "\n")},
        {"bits left over that are not zero", good.substr(0, good.size() - 1) + static_cast<char>(good.back() + 1)},
        {"payload no JSON", token(header, "alice")},
        {"payload an array", token(header, "[" + claims + "]")},
        {"payload with a byte order mark", token(header, "\xEF\xBB\xBF" + claims)},
        {"payload with a NUL behind it", token(header, claims + '\0')},
        {"sub twice", with_dates(R"("sub":"root",)" + dates)},
        {"aud twice", with_dates(R"("aud":"cardea",)" + dates)},
        {"exp twice", with_dates(R"("exp":1,)" + dates)},
        {"exp twice, once with an escape", with_dates(R"("\u0065xp":1900000000,)" + dates)},
        {"1 MiB", with_dates(R"("f":")" + std::string(1024 * 1024, 'x') + "\"," + dates)},
        {"1000 deep", with_dates(R"("d":)" + std::string(1000, '[') + std::string(1000, ']') + "," + dates)},
        {"r is zero", with_signature(std::string(32, '\0') + std::string(32, '\1'))},
        {"s is zero", with_signature(std::string(32, '\1') + std::string(32, '\0'))},
        {"both are zero", with_signature(std::string(64, '\0'))},
        {"a byte too few", with_signature(std::string(63, '\1'))},
        {"a byte too many", with_signature(std::string(65, '\1'))},
        {"in DER", with_signature(in_der(good))},
        {"no signature", base64url(header) + '.' + base64url(claims) + '.'},
    };
}

std::vector<token_case> bad_claims()
{
    return {
        {"exp missing", with_dates(R"("iat":1799999990)")},
        {"exp past", with_dates(R"("exp":1799000000)")},
        {"exp 61 s ago", with_dates(R"("exp":1799999939)")},
        {"exp a text", with_dates(R"("exp":"1800000100")")},
        {"exp too large for a double", with_dates(R"("exp":1e400)")},
        {"exp beyond every calendar", with_dates(R"("exp":1e300)")},
        {"exp that overflows 64 bits", with_dates(R"("exp":18446744073709551617)")},
        {"exp NaN", with_dates(R"("exp":NaN)")},
        {"exp negative", with_dates(R"("exp":-1800000100)")},
        {"exp null", with_dates(R"("exp":null)")},
        {"nbf in 61 s", with_dates(R"("nbf":1800000061,)" + dates)},
        {"nbf in the year 9999", with_dates(R"("nbf":253402300799,)" + dates)},
        {"iat in 61 s", with_dates(R"("exp":1800000100,"iat":1800000061)")},
        {"iss missing", with_claims(R"("aud":"cardea",)" + dates)},
        {"iss another", with_issuer(R"("https://evil.example")")},
        {"iss with a slash behind it", with_issuer(R"("https://idp.example/")")},
        {"iss in another case", with_issuer(R"("https://IDP.example")")},
        {"iss a list", with_issuer(R"(["https://idp.example"])")},
        {"aud missing", with_claims(R"("iss":"https://idp.example",)" + dates)},
        {"aud another", with_audience(R"("other")")},
        {"aud a list of others", with_audience(R"(["a","b"])")},
        {"aud begins as ours", with_audience(R"("cardea-admin")")},
        {"aud is the beginning of ours", with_audience(R"("card")")},
        {"aud empty", with_audience(R"("")")},
        {"aud another, azp ours", with_audience(R"("other","azp":"cardea")")},
    };
}

std::vector<token_case> good_tokens()
{
    const auto body = '.' + base64url(claims);
    return {
        {"ES256", token(header, claims)},
        {"RS256", signed_with(idp().rsa.key, base64url(R"({"alg":"RS256","kid":"rsa"})") + body)},
        {"no kid", token(R"({"alg":"ES256"})", claims)},
        {"typ", with_member(R"("typ":"JWT")")},
        {"typ of an access token", with_member(R"("typ":"application/AT+JWT")")},
        {"a header member that is not known", with_member(R"("x5t":"abc","foo":[1])")},
        {"the other s", with_other_s()},
        {"exp with a fraction", with_dates(R"("exp":1800000100.25)")},
        {"exp in the year 9999", with_dates(R"("exp":253402300799)")},
        {"exp 59 s ago", with_dates(R"("exp":1799999941)")},
        {"nbf in 59 s", with_dates(R"("nbf":1800000059,)" + dates)},
        {"iat in 59 s", with_dates(R"("exp":1800000100,"iat":1800000059)")},
        {"aud a list with ours", with_audience(R"(["other","cardea"])")},
        {"azp another", with_audience(R"("cardea","azp":"client")")},
        {"scope a text", with_dates(R"("scope":"a b",)" + dates)},
        {"scope a list", with_dates(R"("scope":["a","b"],)" + dates)},
    };
}

std::size_t check_all(const std::vector<token_case>& cases, bool expected)
{
    for (const auto& each : cases) {
        CAPTURE(each.name);
        CHECK(accepts(each.text) == expected);
    }
    return cases.size();
}

}  // namespace

TEST_CASE("each hostile token is refused, and each unusual one that is good is accepted")
{
    const auto refused =
        check_all(bad_headers(), false) + check_all(bad_forms(), false) + check_all(bad_claims(), false);
    const auto accepted = check_all(good_tokens(), true);
    CHECK(refused == 87);
    CHECK(accepted == 16);
}

TEST_CASE("an expiry in the year 9999 is one that the clock can hold")
{
    const auto read = json_web_token::parse(with_dates(R"("exp":253402300799)")).value();
    CHECK(read.expires_at() > now + std::chrono::years{100});
    CHECK(read.expires_at() < core::wall_time::max() - std::chrono::years{10});
}

TEST_SUITE_END();
