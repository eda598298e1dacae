// Members of JSON that make a principal, whoever vouches for it. Pure.
#pragma once

#include "core/access.hpp"
#include "core/json/json.hpp"

#include <cstddef>
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

}  // namespace gateway::access
