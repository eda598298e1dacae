// The patterns of `relay_paths`, and which paths may be relayed at all. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gateway::request {

// Whether `path` (from its first '/', without query) fits `pattern`: `*` stands for any characters within a segment, `**`
// as a whole segment for any number of segments, none included. Everything else stands for itself; nothing is decoded.
bool fits(std::string_view pattern, std::string_view path) noexcept;
bool fits_any(const std::vector<std::string>& patterns, std::string_view path) noexcept;

// Whether every reader of `path` sees the same segments: none of them is, or decodes to, `.` or `..` (RFC 3986 section
// 5.2.4), with or without parameters behind a ';', and none holds an encoded '/', '\\' or NUL.
bool unambiguous(std::string_view path) noexcept;

}  // namespace gateway::request
