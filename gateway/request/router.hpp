// From a request target to what it is for, and the patterns of `relay_paths`. Pure. Nothing is decoded or normalised: a path that only means an
// agent after decoding means nothing here, so that no spelling reaches another agent or route. The slash in the name of a registry's
// server is the exception: clients of that API encode it.
#pragma once

#include "gateway/request/route.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::request {

// `target` is origin-form or "*" (net/http1/head.hpp).
destination find_destination(std::string_view target) noexcept;

// Finds a destination at the origin of an agent's own name, where nothing but this agent is: a path there means what it means below
// `/agents/<id>`, and those of HTTP+JSON need no `/rest` in front. `agent` outlives the destination.
destination find_destination_of(std::string_view agent, std::string_view target) noexcept;

// Whether `path` (from its first '/', without query) fits `pattern`: `*` stands for any characters within a segment, `**`
// as a whole segment for any number of segments, none included. Everything else stands for itself; nothing is decoded.
bool fits(std::string_view pattern, std::string_view path) noexcept;
bool fits_any(const std::vector<std::string>& patterns, std::string_view path) noexcept;

// Whether every reader of `path` sees the same segments: none of them is, or decodes to, `.` or `..` (RFC 3986 section
// 5.2.4), with or without parameters behind a ';', and none holds an encoded '/', '\\' or NUL.
bool unambiguous(std::string_view path) noexcept;

}  // namespace gateway::request
