// A copy of a text in which some places have other bytes. Pure; any thread.
#pragma once

#include "mcp/calls/incoming.hpp"

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

}  // namespace mcp
