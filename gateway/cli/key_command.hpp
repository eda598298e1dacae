// `cardea key new`: an API key for a caller of the gateway.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gateway::cli {

enum class key_form : std::uint8_t { text, json };

struct key_command {
    std::string name;  // of the principal
    std::vector<std::string> scopes;
    std::string expires;  // as `expires` of a key in a configuration; empty: never
    key_form form = key_form::text;
};

// The printed text: a new key of 256 random bits, which is stored nowhere, and the entry that makes an api_key provider
// know it by its SHA-256. Fails with config_invalid if the name, a scope or the time cannot be in one, and with
// internal if the system has no randomness.
core::result<std::string> new_key(const key_command& asked);

}  // namespace gateway::cli
