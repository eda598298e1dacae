// Reads the answer to a request for a list, and what a tool's schema says about header fields (`x-mcp-header`: MCP 2026-07-28,
// basic/transports/streamable-http, "Custom Headers from Tool Parameters"). Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/message.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// The member of a result that has the list.
std::string_view member_of(list_kind list) noexcept;

// An item of a list, read by itself.
struct list_item {
    std::size_t bytes = 0;  // of its text
    std::string key;        // as listed_item, as is `raw`; empty: it has none
    std::string raw;
    std::string problem;  // why it is left out, in the server's words too; empty: it is not
    std::string headers;  // of a tool: header_problem() of its schema; empty: none, or it was not looked for
};

list_item read_list_item(std::string_view raw, list_kind list, bool with_headers);

// The result of a request for a list, read before it is known which list was asked for. For one walk.
struct list_page {
    struct items {
        std::size_t count = 0;  // also of those that were not read
        std::vector<list_item> read;
        std::optional<core::error> problem;  // it is no array
    };

    std::optional<core::error> problem;  // it is no object
    std::string type;                    // raw, as the next three; empty: absent
    std::string time_to_live;
    std::string scope;
    std::string cursor;
    std::array<std::optional<items>, list_kinds> lists;  // by index_of(); nothing: it has none
};

// At most so many items of each list are read. Linear in `result`.
list_page read_list_page(std::string_view result, std::size_t most_items);

// Why clients over streamable HTTP have to reject a tool with this `inputSchema`, the parameter's path first, in the server's
// words and of any length. Nothing: every annotation is as it has to be, or there is none. An annotation is a token (RFC 9110)
// that stands once, whatever its case; on a parameter of type integer, string or boolean that the root leads to by
// `properties` alone. Everywhere else it is an error, but for what is no schema: names of parameters and definitions, and
// values (`default`, `const`, `enum`, `examples`).
//
// `schema` is the raw text of a value that usable() takes. Linear in it.
std::optional<std::string> header_problem(std::string_view schema);

}  // namespace mcp
