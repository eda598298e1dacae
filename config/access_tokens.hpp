// The issuers, audiences and clients that providers of signed tokens accept. Pure.
#pragma once

#include "core/access.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace config {

// The type of the provider's bearer tokens for an OAuth server that exchanges them (RFC 8693 section 3); empty: they are never
// exchanged, since only the gateway can tell whose they are.
std::string_view exchanged_as(const core::access_provider& provider) noexcept;

// The values of `iss` in the tokens of the provider; empty: it accepts no tokens with a signature.
std::vector<std::string> issuers_of(const core::access_provider& provider);

// The values of `aud` in them.
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
