// `access`: providers, the rules of agents without policies of their own, and policies as an operator writes them: one of three words, a
// map of conditions, or a list of such maps of which one is enough. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/value_kind.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

enum class decision : std::uint8_t { discover, call };

inline constexpr std::size_t most_rules = 256;  // of one policy

// `anyone` lets every caller in, `authenticated` (and `{}`) every principal, `nobody` none. Nothing: it is reported.
std::optional<core::access_policy> read_policy(const field& f, decision about, problem_list& problems);

// The inverse of read_policy().
core::json shown_policy(const core::access_policy& policy);

// The first provider that the policy names and that does not exist. Empty: there is none.
std::string_view
missing_provider(const core::access_policy& policy, const std::vector<core::access_provider>& providers);

}  // namespace config
