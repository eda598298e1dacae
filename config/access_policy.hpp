// A policy as an operator writes it: one of three words, a map of conditions, or a list of such maps of which one is enough. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace config {

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
