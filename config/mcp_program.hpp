// What a program is started with. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/secret.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace config {

// Any text that a C string can hold; never shown.
std::optional<std::string> read_argument(field f, problem_list& problems);

std::vector<std::pair<std::string, core::secret>> read_environment(const field& f, problem_list& problems);

// A variable that decides which code a program loads, and is not for callers of the management API to set.
bool loads_code(std::string_view variable) noexcept;

}  // namespace config
