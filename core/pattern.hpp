// Patterns of operators over ids. Pure; any thread.
#pragma once

#include <string_view>

namespace core {

// Whether `text` is as `pattern` says, in which `*` is any text, also none. Takes time in the product of the lengths at most.
bool fits(std::string_view pattern, std::string_view text) noexcept;

}  // namespace core
