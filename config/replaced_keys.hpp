// Keys that are not there, and what to write instead: keys of earlier versions, so that `cardea validate` names the successor of each,
// and keys that operators know from other gateways. Whoever renames or removes a key adds a row, and a line to docs/upgrading.md. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace config {

struct replaced_key {
    std::string_view path;  // as problems show it, with ID for the id of an agent: `log_level`, `agents.ID.enabled`
    std::string_view successor;  // a key that is there, in the same form
    std::string_view advice;     // completes "is not a known key; …"
};

// By path.
std::span<const replaced_key> replaced_keys();

// What to say of the key at `path`: "is not a known key; write `level` below `log`". Empty: nothing replaces it.
std::string replacement(std::string_view path);

}  // namespace config
