// Messages: who said what, in which task (types.ts of 0.3.0 `Message`, a2a.proto of 0.3.0 and 1.0.1 `Message`).
// Internal to a2a/dialect/.
#pragma once

#include "a2a/dialect/walk.hpp"

#include <string_view>

namespace a2a {

// Appends one message. Fails for a message of a caller that has no role, and for parts that cannot be said.
bool translate_message(walk& w, std::string_view raw);

}  // namespace a2a
