// What a bundle answers itself: the results of `initialize` (MCP 2024-11-05 to 2025-11-25) and of `server/discover` (2026-07-28), and its lists:
// those of tools/list, prompts/list, resources/list and resources/templates/list. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::size_t longest_bundle_instructions = 8 * 1024;  // bytes

// A member that the caller may use. Views outlive the call.
struct opening_member {
    std::string_view id{};                // of the agent
    std::string_view title{};             // heads its instructions; empty: the id does
    const server_facts* facts = nullptr;  // null: it is starting, and counts as having every capability
    bool unavailable = false;             // it is down
    bool has_tasks = false;               // it hands out tasks of the extension to modern clients through the bundle
};

struct opening_words {
    std::string_view bundle{};   // its name: `serverInfo.name` is `cardea/<bundle>`
    std::string_view version{};  // of the gateway
    // The configured ones; empty: those of the members, each under a heading, up to longest_bundle_instructions.
    std::string_view instructions{};
    bool lists_tools = false;  // the bundle has tools of its own
};

// Raw `serverInfo`. `version`: of the gateway.
std::string bundle_info(std::string_view bundle, std::string_view version);

// Appends the raw result. Capabilities are those of all members: tools, prompts and resources with `listChanged`, `resources.subscribe`,
// completions, logging; `asked` is the version that the client asks for, which is agreed if it is known.
void append_initialize_result(
    std::string& out,
    std::string_view asked,
    std::span<const opening_member> members,
    const opening_words& words
);

// The result for the modern era; `subscribe` counts of servers of this era only, because others are not subscribed to for its clients.
void append_discover_result(std::string& out, std::span<const opening_member> members, const opening_words& words);

inline constexpr std::size_t largest_bundle_page =
    1024 * 1024;  // bytes of the entries of one page, unless the first is longer

struct page_question {
    list_kind list = list_kind::tools;
    std::optional<std::string_view> cursor{};  // its text, not raw; nothing: the first page
    era speaks = era::modern;
};

// Parts of a result that the catalog does not have.
struct page_additions {
    std::string_view front{};  // raw entries with commas between them, which come first on the first page
    std::span<const std::string> unavailable{};  // ids of members that are down: `_meta["cardea/unavailable"]`
    std::string_view server_info{};              // raw; for `_meta` of the modern era; empty: none
};

// Appends the raw result. A cursor names the last entry of the page before: if that has gone since, the list goes on where it was.
// Fails with invalid_params, and then appends nothing: no page of this list had such a cursor.
core::result<> append_page(
    std::string& out,
    const bundle_catalog& catalog,
    const page_question& question,
    const bundle_sight& sight,
    const page_additions& additions = {}
);

}  // namespace mcp
