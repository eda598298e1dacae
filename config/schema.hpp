// The table of all keys but those of agents (agent_table.hpp): how each is written, what it means, and the member it sets. The
// reader, the dump, the comparison, the JSON Schema, suggestions and docs/configuration.md follow from it.
#pragma once

#include "config/settings.hpp"
#include "config/value_kind.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace config {

struct setting {
    std::string path;
    std::shared_ptr<const key_of<process_settings>> key;
    std::string meaning;
    std::string_view file_of = {};  // a file with the value of this other key
};

// All but the agents.
std::span<const setting> all_settings();

// Null: there is none.
const setting* find_setting(std::string_view path);

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};

// docs/configuration.md.
std::string reference_markdown();

// The member of `known` that `key` misspells; a word that is near by accident and means something else is none. Empty: none.
std::string_view nearest_key(std::string_view key, const std::vector<std::string_view>& known);

// The problem of a key that is not among `known`, its siblings: "is not a known key; did you mean `ttl`?".
std::string unknown_key(std::string_view key, const std::vector<std::string_view>& known);

// A key that does not exist, and its successor: keys of earlier versions, so that `cardea validate` names the successor of each,
// and keys that operators know from other gateways. Whoever renames or removes a key adds a row, and a line to docs/upgrading.md.
struct replaced_key {
    std::string_view path;  // as problems show it, with ID for the id of an agent: `log_level`, `agents.ID.enabled`
    std::string_view successor;  // a known key, in the same form
    std::string_view advice;     // completes "is not a known key; …"
};

// By path.
std::span<const replaced_key> replaced_keys();

// The problem of a replaced key: "is not a known key; write `level` below `log`". Empty: nothing replaces the key at `path`.
std::string replacement(std::string_view path);

}  // namespace config
