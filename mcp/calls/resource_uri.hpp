// Whether a resource's URI has the one spelling that every reader takes for itself, so that a rule about it holds whatever the
// server makes of it (RFC 3986 section 6; WHATWG URL). Pure; any thread.
#pragma once

#include <span>
#include <string_view>

namespace mcp {

// Not: white space, a control character, a backslash or a fragment; capitals in the scheme, or in the host of a scheme that
// browsers know; user information, or a port, of such a scheme; `.` and `..` as segments; an escape of what needs none, or in
// small letters; anything beyond ASCII. Of `file` neither a query, an empty segment, nor an escaped slash or backslash: file systems
// read past them.
bool is_canonical_uri(std::string_view uri) noexcept;

// The name of the file behind a `file:` URI, or a pattern for such: without escapes, in `room`. Programs do not agree on which
// characters they escape. As it is: another URI, one without escapes, or one that is longer than `room`.
std::string_view unescaped_file(std::string_view uri, std::span<char> room) noexcept;

}  // namespace mcp
