// `mcp.bundles`: which agents are one MCP server, and under which names. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "config/value_kind.hpp"
#include "core/json/json.hpp"
#include "core/mcp_bundle.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::size_t longest_instructions = 8 * 1024;

// The word that `tools` may be.
inline constexpr std::string_view word_search = "search";

// A map from names to bundles. Members whose names would be mixed up are problems: an id that is no prefix, and two prefixes that are equal
// as schemes; what is expected then names one that fits.
std::vector<core::mcp_bundle> read_bundles(const field& f, const reading& with);

// The inverse of read_bundles().
core::json shown_bundles(const std::vector<core::mcp_bundle>& bundles);

core::json bundles_schema();

// The kinds of values that only bundles have, for the table of keys (access_table.hpp).
core::json bundle_members_schema();
core::json bundle_tools_schema();
core::json bundle_filter_schema();
value_kind<std::string> instructions();
value_kind<std::vector<std::string>> name_patterns();
value_kind<core::mcp_filter> bundle_filter();

// Warns of members that no agent of the file is, of agents that a pattern fits and does not bring, of agents that MCP clients cannot call, and of
// claims that are another part of the principal; a provider that does not exist is a problem. `f` is the field of `mcp.bundles`, and
// `all` was read without a problem.
void check_bundles(const field& f, const settings& all, problem_list& problems);

}  // namespace config
