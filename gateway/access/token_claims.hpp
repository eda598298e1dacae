// The principal that the claims of a checked token name. Pure.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

#include <cstdint>
#include <string>

namespace gateway::access {

// Which issuer's habits the claims follow.
enum class claim_style : std::uint8_t { usual, azure_ad, gcp_iap };

// The principal: `sub` is its id; `tid`, else `tenant`, its tenant; `scope`, else `scp`, its scopes, as a text with spaces
// between them or as a list; `groups` and `roles`, which are lists, its groups. Its claims are the others, as claims_in()
// has them. With azure_ad `roles` are scopes instead of groups; with gcp_iap `email` is the id where there is one. Fails
// with unauthenticated if is_principal_id() does not hold for the id.
core::result<core::principal>
principal_of(const core::json& claims, std::string provider, claim_style style = claim_style::usual);

}  // namespace gateway::access
