// The effective configuration: the value of every key, and its source. Nothing that may be a credential is shown:
// not the secrets, and not what a variable put into an agent's card, metadata or card address. Pure.
#pragma once

#include "config/expand.hpp"
#include "config/settings.hpp"
#include "core/json/json.hpp"

#include <map>
#include <string>
#include <string_view>

namespace config {

struct dump_source {
    std::string_view text;  // of the file that the settings were read from; empty: there is none
    std::string_view file_name;
    environment variables;
    std::map<std::string, std::string> flags;  // the path of a setting, or of an agent, and the flag that gave it
};

// Every key as `{"value": …, "origin": …}`, at its place. Origins: `default`, `default: cards.shape` (what stands in for
// it), `FILE:LINE`, `FILE:LINE, environment NAME`, `flag --listen`.
core::json dump(const settings& effective, const dump_source& from);

// The keys of an agent whose value is not the usual one, each at its place and written as in the dump. A card, metadata and a
// transport are left out.
core::json given_values(const core::agent& agent);

// The dump to be read by people: YAML, with the origins as comments.
std::string dump_text(const core::json& dumped);

}  // namespace config
