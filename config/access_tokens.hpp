// Providers that accept tokens with the signature of an issuer: `jwt`, and those that know more about their issuer. Pure.
#pragma once

#include "config/access_members.hpp"
#include "config/tls.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace config {

core::jwt_provider read_jwt(const access_members& given, const tls_checks& tls);
core::oidc_provider read_oidc(const access_members& given);
core::azure_ad_provider read_azure_ad(const access_members& given, const tls_checks& tls);
core::gcp_iap_provider read_gcp_iap(const access_members& given, const tls_checks& tls);

// Each adds the members of such a provider to `shown`.
void show_tokens(const core::jwt_provider& provider, core::json& shown);
void show_tokens(const core::oidc_provider& provider, core::json& shown);
void show_tokens(const core::azure_ad_provider& provider, core::json& shown);
void show_tokens(const core::gcp_iap_provider& provider, core::json& shown);

// As what an OAuth server that exchanges it gets a bearer token of the provider (RFC 8693 section 3); empty: not at all, since
// nobody but the gateway could tell whose it is.
std::string_view exchanged_as(const core::access_provider& provider) noexcept;

// What `iss` may be in the tokens of the provider; empty: it accepts no tokens with a signature.
std::vector<std::string> issuers_of(const core::access_provider& provider);

// What `aud` may be in them.
std::vector<std::string> audiences_of(const core::access_provider& provider);

// Each client that `client_id` may name in those without `aud`.
std::vector<std::string> clients_of(const core::access_provider& provider);

// The text in front of each scope where callers ask the issuer for it.
std::string scope_prefix_of(const core::access_provider& provider);

// A member of a token that is another part of its principal and no claim, and the condition of policies that is about it.
struct token_member {
    std::string_view name;
    std::string_view condition;
};
inline constexpr std::array<token_member, 7> token_members{{
    {"sub", "principals"},
    {"tid", "tenants"},
    {"tenant", "tenants"},
    {"scope", "scopes"},
    {"scp", "scopes"},
    {"groups", "groups"},
    {"roles", "groups, or scopes with azure_ad"},
}};

}  // namespace config
