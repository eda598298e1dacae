// Parts of messages and artifacts: text, files, data (types.ts of 0.3.0 `Part`, a2a.proto of 0.3.0 and 1.0.1 `Part`).
// Internal to a2a/dialect/.
//
// 1.0 lets data be any value, 0.3 only an object. Any other goes to 0.3 as `{"value":…}` with `"data_part_compat":true`
// in the part's metadata, as the SDKs of 1.0 do it, and comes back as what it was.
#pragma once

#include "a2a/dialect/walk.hpp"

#include <string_view>

namespace a2a {

// Appends one part. Fails if it has no content or two, or a content of the wrong type.
bool translate_part(walk& w, std::string_view raw);

// Appends the array of parts that stands in the member `name`.
bool translate_parts(walk& w, std::string_view name, std::string_view raw);

}  // namespace a2a
