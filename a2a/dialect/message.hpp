// Messages: who said what, in which task (types.ts of 0.3.0 `Message`, a2a.proto of 0.3.0 and 1.0.1 `Message`).
// Parts of messages and artifacts: text, files, data (the same, `Part`). Internal to a2a/dialect/.
//
// 1.0 lets data be any value, 0.3 only an object. Any other goes to 0.3 as `{"value":…}` with `"data_part_compat":true`
// in the part's metadata, as the SDKs of 1.0 do it, and comes back as what it was.
#pragma once

#include "a2a/dialect/walk.hpp"

#include <string_view>

namespace a2a {

// Appends one message. Fails for a message of a caller that has no role, and for parts that cannot be said.
bool translate_message(walk& w, std::string_view raw);

// Appends one part. Fails if it has no content or two, or a content of the wrong type.
bool translate_part(walk& w, std::string_view raw);

// Appends the array of parts that stands in the member `name`.
bool translate_parts(walk& w, std::string_view name, std::string_view raw);

}  // namespace a2a
