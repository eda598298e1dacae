// A server's list as callers see it. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/name_filter.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_entries = 10000;     // of one page
inline constexpr std::size_t most_repeated_names = 8;  // that are reported
inline constexpr std::size_t most_unapproved = 16;     // that are reported

// The member of a result that has the list: "resourceTemplates".
std::string_view list_member(list_kind list) noexcept;

// The member of an entry that it is known by: "name", "uri" or "uriTemplate".
std::string_view key_member(list_kind list) noexcept;

struct edited_list {
    std::string text;
    std::size_t hidden = 0;               // entries that are left out
    std::vector<std::string> repeated;    // names of those that an earlier entry has; at most most_repeated_names
    std::vector<listed_item> unapproved;  // tools that are left out as such, and are news; at most most_unapproved
};

// An answer to the request of a `list`, without the entries that are hidden, with exposed names and other descriptions; every
// other byte stays. An entry that is no object, has no name or has it twice is hidden. Answers that are errors, and messages
// that are no answers, stay as they are. Fails with upstream_protocol: not JSON, not an object, or the result or its list
// stands twice, or the list has more than most_entries.
core::result<edited_list> edit_list(const name_filter& filter, list_kind list, std::string_view message);

// With all filters of an agent, and without the entries that name_filters::shows() hides from a caller with these `scopes`.
core::result<edited_list> edit_list(
    const name_filters& filters,
    list_kind list,
    std::string_view message,
    const std::vector<std::string>* scopes
);

// Edits a list of tools: those that `pins` shows, in their approved form, before the filters apply. Of the message and of its result only the
// members stay that the protocol has. Fails besides: the result or its list is something else.
core::result<edited_list> edit_list(
    const name_filters& filters,
    const pinned_server& pins,
    std::string_view message,
    const std::vector<std::string>* scopes
);

// The lists of a server as they were walked, edited in this way.
std::vector<listed_item>
exposed_items(const name_filter& filter, list_kind list, const std::vector<listed_item>& items);

}  // namespace mcp
