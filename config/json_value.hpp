// YAML values as JSON, by the core schema of YAML 1.2 (section 10.3).
#pragma once

#include "config/document.hpp"
#include "core/json/json.hpp"

#include <string>

namespace config {

// Plain scalars get the type that they look like; quoted ones and those with a variable in them are strings. A number
// that JSON's readers would change (an integer beyond 64 bits, more digits than a double keeps, infinities) stays the
// text that was written.
core::json to_json(const node& value);

// The inverse, for what came as JSON: what to_json() makes of it is `value` again. Places are the order of the walk.
node to_node(const core::json& value);

// Adds a member that is not there yet. ordered_json itself looks first, so that building an object is quadratic.
void append_member(core::json& object, const std::string& key, core::json value);

}  // namespace config
