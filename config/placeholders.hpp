// What stands where a credential is expected, and is none: a mask, or a variable where there are none. Pure.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"

#include <string_view>

namespace config {

// Reports those in an agent's record that did not come from the configuration file, and variables for a program that decide
// which code is loaded. `path` is the record's own.
void refuse_placeholders(const node& record, std::string_view path, problem_list& problems);

}  // namespace config
