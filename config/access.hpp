// `access`: providers, and the rules of agents without policies of their own. Pure.
#pragma once

#include "config/settings.hpp"
#include "config/value_kind.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace config {

inline constexpr std::size_t most_agent_rules = 256;

inline constexpr std::string_view no_such_provider = "names no provider of access.providers";

// The word `open`, or a map with `providers`, `rules` and `open`. A rule that names a provider which does not exist is a
// problem if there are providers.
core::access_settings read_access(const field& f, const reading& with);

// The settings as they are written, with tokens and hashes masked.
core::json shown_access(const core::access_settings& access);

// Warns of `access` without a provider, of rules that an earlier one hides, of ids that no agent of the file has, and of claims
// that are another part of the principal. `f` is the field of `access`, and `all` was read without a problem.
void warn_of_access(const field& f, const settings& all, problem_list& problems);

// The problem of a claim that a rule of the policy asks for and that callers with tokens cannot have: a predicate with what was
// expected. Empty: there is none.
std::string misplaced_claim(const core::access_policy& policy, const core::access_settings& access);

}  // namespace config
