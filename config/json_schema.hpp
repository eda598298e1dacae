// The configuration as JSON Schema (draft 2020-12), for editors: from the same tables as the parser and the documentation.
// It takes whatever the parser takes; what only the parser can judge (that a file exists, that two settings agree) it lets
// pass. Pure.
#pragma once

#include "core/json/json.hpp"

namespace config {

core::json json_schema();

}  // namespace config
