// Whether a resource's URI has the one spelling that every reader takes for itself, so that a rule about it holds whatever the
// server makes of it (RFC 3986 section 6; WHATWG URL). Pure; any thread.
#pragma once

#include <string_view>

namespace mcp {

// Not: white space, a control character, a backslash or a fragment; capitals in the scheme, or in the host of a scheme that
// browsers know; user information, or a port, of such a scheme; `.` and `..` as segments; an escape of what needs none, or in
// small letters; anything beyond ASCII.
bool is_canonical_uri(std::string_view uri) noexcept;

}  // namespace mcp
