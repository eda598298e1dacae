// Fingerprints of what an agent says of itself: of a tool, of the instructions of an MCP server, of a card. What is equal for the readers
// of a definition has one fingerprint: the order of members, of `required`, `enum` and `type`, and runs of white space do not count.
// SHA-256 over RFC 8785, as 64 hexadecimal digits. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::size_t longest_definition = 4 * 1024 * 1024;  // bytes of a tool

// A tool: `shape` is of its name, its schemas without texts, `annotations`, `execution` and `_meta.ui`; `whole` of these and of its words,
// which are titles and descriptions, also in schemas. Other members count for neither.
struct tool_print {
    std::string shape;
    std::string whole;

    friend bool operator==(const tool_print&, const tool_print&) = default;
};

// `raw` is one object. Fails with parse_error: not JSON, or over longest_definition, nested deeper than 64, or with an object of more than
// 1,000 members.
core::result<tool_print> print_of_tool(std::string_view raw);

// The members that count of a tool, as they are compared; of anything else: null.
core::json counted_tool(const core::json& tool);

std::string print_of_words(std::string_view text);

// Everything of a card counts but `version`, `signatures` and the order of lists. Fails with parse_error, also over `most` bytes.
core::result<std::string> print_of_card(std::string_view text, std::size_t most);

// Whether callers may get the card `next`, whose print is that of the approved one, in its place: the order of its lists is the same, its
// version is the approved one or at most 64 letters, digits, `.`, `-`, `+`, `_`, and its signatures have no blanks and no texts beyond ASCII.
bool may_replace_card(std::string_view approved, std::string_view next);

}  // namespace mcp
