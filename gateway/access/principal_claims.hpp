// The principal that claims name, be they those of a checked token or an answer of a verifier. Pure.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

inline constexpr std::size_t max_principal_id = 256;  // bytes
inline constexpr std::size_t max_claim_text = 256;    // bytes, of a name and of a value
inline constexpr std::size_t max_claims = 64;         // entries of a principal

// 1 to max_principal_id bytes without control characters.
bool is_principal_id(std::string_view text);

// The texts of a list, or the words of a text with spaces between them. Of any other value: none.
std::vector<std::string> words_in(const core::json& value);

// The texts of a list that are not empty. Of any other value: none.
std::vector<std::string> texts_in(const core::json& value);

// The members of an object that are a text, a number or a truth value, or a list of these; without those whose names are
// among `others`. One beyond the limits is left out: a rule can only ask for one that is there.
std::vector<core::claim> claims_in(const core::json& object, std::span<const std::string_view> others);

// Which issuer's habits the claims follow.
enum class claim_style : std::uint8_t { usual, azure_ad, gcp_iap };

// The principal: `sub` is its id; `tid`, else `tenant`, its tenant; `scope`, else `scp`, its scopes, as a text with spaces
// between them or as a list; `groups` and `roles`, which are lists, its groups. Its claims are the others, as claims_in()
// has them. With azure_ad `roles` are scopes instead of groups; with gcp_iap `email` is the id where there is one. Fails
// with unauthenticated if is_principal_id() does not hold for the id.
core::result<core::principal>
principal_of(const core::json& claims, std::string provider, claim_style style = claim_style::usual);

}  // namespace gateway::access
