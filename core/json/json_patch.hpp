// JSON Patch (RFC 6902): the difference between two documents. Pure; any thread.
#pragma once

#include "core/json/json.hpp"

#include <string>
#include <string_view>

namespace core {

// A patch as text; `[]` if the documents differ in nothing but the order of members. It is never longer than a patch that
// replaces the whole: each change names its place, and with long names a few changes would fill the memory. Takes time in
// proportion to the size of both.
std::string json_patch(const json& before, const json& after);

// A patch of one operation ("add", "replace") on the whole document.
std::string json_patch_of_whole(std::string_view operation, const json& after);

}  // namespace core
