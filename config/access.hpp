// `access`: who the callers are, and what those agents allow that say nothing about it themselves. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/tls.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <string_view>

namespace config {

inline constexpr std::size_t most_agent_rules = 256;

inline constexpr std::string_view no_such_provider = "names no provider of access.providers";

// The word `open`, or a map with `providers`, `rules` and `open`. A rule that names a provider which does not exist is a
// problem if there are providers.
core::access_settings
read_access(const field& f, const secret_reader& secrets, const tls_checks& tls, problem_list& problems);

// As it is written, with tokens and hashes masked.
core::json shown_access(const core::access_settings& access);

}  // namespace config
