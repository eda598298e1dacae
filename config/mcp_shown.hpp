// What of a transport may be shown. Pure.
#pragma once

#include "config/document.hpp"
#include "core/json/json.hpp"

#include <string_view>

namespace config {

// A member of a transport: only what cannot hold a credential keeps its value.
core::json shown_member(std::string_view name, const node& value);

}  // namespace config
