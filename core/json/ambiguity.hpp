// JSON text that different readers understand differently, so that no signature can vouch for it. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace core {

// Why the text, which is within the bounds of parse_json(), is ambiguous: a name that stands twice in one object, a number
// that a double cannot hold (RFC 8785 section 3.1). Nothing: it is not.
std::optional<std::string> ambiguity(std::string_view text);

}  // namespace core
