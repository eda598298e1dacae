// A copy of a text in which some places have other bytes. Pure; any thread.
#pragma once

#include "mcp/calls/incoming.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mcp {

struct text_edit {
    text_range place;
    std::string text;

    friend bool operator==(const text_edit&, const text_edit&) = default;
};

// The edits in any order; no two of them overlap, and all lie within `text`.
std::string edited(std::string_view text, std::span<const text_edit> edits);

// Where a part of the text stands in the copy. Each edit lies before it, behind it or within it.
text_range moved(text_range part, std::span<const text_edit> edits) noexcept;

// Where the parts of a message stand in the copy of its body; offsets are from the beginning of the message there.
incoming moved(const incoming& message, std::span<const text_edit> edits) noexcept;

struct trace_words {
    std::string_view parent;  // of `traceparent`
    std::string_view state;   // of `tracestate`; empty: none
};

// The edit that writes the trace into a request; `message` says where its parts stand in `text`. Nothing: it says `traceparent` itself,
// or it has no params, or these or `_meta` are no object whose names stand once.
std::optional<text_edit> trace_edit(const incoming& message, std::string_view text, const trace_words& words);

}  // namespace mcp
