// The trace of a request for a server that gets no header: `traceparent` and `tracestate` in `_meta` (MCP 2026-07-28, basic, "_meta";
// W3C Trace Context, level 1). Pure; any thread.
#pragma once

#include "mcp/calls/incoming.hpp"
#include "mcp/calls/text_edits.hpp"

#include <optional>
#include <string_view>

namespace mcp {

struct trace_words {
    std::string_view parent;  // of `traceparent`
    std::string_view state;   // of `tracestate`; empty: none
};

// The edit that writes the trace into a request; `message` says where its parts stand in `text`. Nothing: it says `traceparent` itself,
// or it has no params, or these or `_meta` are no object whose names stand once.
std::optional<text_edit> trace_edit(const incoming& message, std::string_view text, const trace_words& words);

}  // namespace mcp
