// `access.providers`, which turn a caller's credential into a principal. Pure.
#pragma once

#include "config/access_values.hpp"
#include "config/value_kind.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::size_t most_providers = 64;
inline constexpr std::size_t shortest_static_token = 16;       // bytes
inline constexpr std::size_t longest_static_token = 8 * 1024;  // bytes: no request has a longer credential

inline constexpr std::string_view expected_token = "a token of at least 16 characters";
inline constexpr std::string_view expected_token_file = "the path of a file with a token";

// A bearer token that callers send. Empty after a problem.
core::secret checked_token(const field& f, const std::string& text, problem_list& problems);

// In the order of the file. Their names are unique; so are tokens, and the hashes of keys, among all of them.
std::vector<core::access_provider> read_providers(const field& f, const reading& with);

// The provider as it is written, with tokens and hashes masked.
core::json shown_provider(const core::access_provider& provider);

inline constexpr std::size_t most_keys = 10'000;  // of one provider

// The keys of a provider with this name. A hash that is already in `hashes` is a problem; each new one is added.
core::api_key_provider
read_api_keys(const access_members& given, const std::string& provider, std::set<std::string>& hashes);

// Adds the members of such a provider to `shown`, with hashes masked.
void show_api_keys(const core::api_key_provider& provider, core::json& shown);

}  // namespace config
