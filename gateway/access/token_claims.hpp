// Whom the claims of a token name, once it has been checked. Pure; any thread.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <string>

namespace gateway::access {

inline constexpr std::size_t max_principal_id = 256;  // bytes
inline constexpr std::size_t max_claim_text = 256;    // bytes, of a name and of a value
inline constexpr std::size_t max_claims = 64;         // entries of a principal

// The principal: `sub` is its id; `tid`, else `tenant`, its tenant; `scope`, else `scp`, its scopes, as a text with spaces
// between them or as a list; `groups` and `roles`, which are lists, its groups. Its claims are the other members that are a
// text, a number or a truth value, or a list of these. A claim beyond the limits is left out: a rule can only ask for one
// that is there. Fails with unauthenticated if `sub` is no text of 1 to max_principal_id bytes, or has a control character.
core::result<core::principal> principal_of(const core::json& claims, std::string provider);

}  // namespace gateway::access
