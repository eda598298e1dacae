// API keys as `access.providers` lists them: where a request carries one, and the hash of each. Pure.
#pragma once

#include "config/access_members.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <set>
#include <string>

namespace config {

inline constexpr std::size_t most_keys = 10'000;     // of one provider
inline constexpr std::size_t most_scrypt_keys = 16;  // of all: each is tried with a key that is not known

// The keys of a provider with this name. A hash that is already in `hashes` is a problem; each new one is added.
core::api_key_provider
read_api_keys(const access_members& given, const std::string& provider, std::set<std::string>& hashes);

// Adds the members of such a provider to `shown`, with hashes masked.
void show_api_keys(const core::api_key_provider& provider, core::json& shown);

}  // namespace config
