// Any text as a token, and any header and claims as a token that the provider's key has signed: its first line is the header,
// the second where a byte is changed, the rest the claims. Reading ends, only what the key has signed verifies, no byte of it
// can be changed, and claims that are accepted hold what they must.
#include "core/base64.hpp"
#include "gateway/access/principal_claims.hpp"
#include "jose/json_web_token.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace {

using jose::json_web_token;
using tests::require;

constexpr core::wall_time now{std::chrono::seconds{1'800'000'000}};

const jose::token_policy policy{
    .issuer = "https://idp.example",
    .audiences = {"cardea"},
    .algorithms = {jose::jws_algorithm::eddsa},
};

const jose::json_web_key& key()
{
    static const auto made = jose::json_web_key::from_pem(a2a_test::pem(a2a_test::edwards_key()), "k");
    return *made;
}

bool is_signed(const json_web_token& token)
{
    return token.signed_by(std::span{&key(), 1});
}

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

void check_principal(const core::json& claims, std::string_view text)
{
    const auto owner = gateway::access::principal_of(claims, "idp");
    if (!owner) {
        require(owner.error().code == core::errc::unauthenticated, "who is nobody is not authenticated", text);
        return;
    }
    require(owner->id == core::text_member(claims, "sub"), "the subject is the principal", text);
    require(!owner->id.empty() && owner->id.size() <= gateway::access::max_principal_id, "an id is short", text);
    require(owner->claims.size() <= gateway::access::max_claims, "claims are few", text);
    for (const auto& [name, value] : owner->claims) {
        require(std::max(name.size(), value.size()) <= gateway::access::max_claim_text, "claims are short", text);
    }
}

void check_claims(const json_web_token& token, std::string_view text)
{
    check_principal(token.claims(), text);
    if (!token.check(policy, now)) {
        return;
    }
    require(token.algorithm() == jose::jws_algorithm::eddsa, "only a listed algorithm is accepted", text);
    require(core::text_member(token.claims(), "iss") == policy.issuer, "only the issuer's token is accepted", text);
    const auto* expires = core::member(token.claims(), "exp");
    require(expires != nullptr && expires->is_number(), "a token that is accepted has an end", text);
    require(token.expires_at() + policy.leeway > now, "a token that is accepted has not ended", text);
    require(!token.check(policy, token.expires_at() + policy.leeway), "a token ends", text);
}

// Nobody who does not have the key can write a token that it verifies.
void check_any(std::string_view text)
{
    const auto token = json_web_token::parse(text);
    if (!token) {
        require(token.error().code == core::errc::unauthenticated, "what is no token authenticates nobody", text);
        return;
    }
    require(!is_signed(*token), "what the key has not signed does not verify", text);
    check_claims(*token, text);
}

void check_signed(std::string_view text)
{
    auto rest = text;
    const auto header = take_line(rest);
    const auto place = take_line(rest);
    auto signed_text = core::base64url(header) + '.' + core::base64url(rest);
    signed_text += '.' + core::base64url(*key().sign(signed_text));
    const auto token = json_web_token::parse(signed_text);
    if (!token) {
        return;
    }
    if (token->algorithm() == jose::jws_algorithm::eddsa && (token->kid().empty() || token->kid() == "k")) {
        require(is_signed(*token), "what the key has signed verifies", text);
    } else {
        require(!is_signed(*token), "a token of another key or algorithm does not verify", text);
    }
    check_claims(*token, text);
    std::size_t at = 0;
    for (const char digit : place) {
        at = at * 31 + static_cast<unsigned char>(digit);
    }
    auto changed = signed_text;
    auto& byte = changed[at % changed.size()];
    byte = byte == 'A' ? 'B' : 'A';
    const auto other = json_web_token::parse(changed);
    require(!other || !is_signed(*other), "a token that was changed does not verify", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_any(text);
    check_signed(text);
    return 0;
}
