// What turns a caller's credential into a principal: `access.providers`. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/tls.hpp"
#include "core/access.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace config {

inline constexpr std::size_t most_providers = 64;
inline constexpr std::size_t shortest_static_token = 16;       // bytes
inline constexpr std::size_t longest_static_token = 8 * 1024;  // bytes: no request has a longer credential

inline constexpr std::string_view expected_token = "a token of at least 16 characters";
inline constexpr std::string_view expected_token_file = "the path of a file with a token";

// A bearer token that callers send. Empty: it is none, which is reported.
core::secret checked_token(const field& f, const std::string& text, problem_list& problems);

// In the order of the file. Their names are unique; so are tokens, and the hashes of keys, among all of them.
std::vector<core::access_provider>
read_providers(const field& f, const secret_reader& secrets, const tls_checks& tls, problem_list& problems);

// As it is written, with tokens and hashes masked.
core::json shown_provider(const core::access_provider& provider);

}  // namespace config
