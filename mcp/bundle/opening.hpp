// The first answer of a bundle: the results of `initialize` (MCP 2024-11-05 to 2025-11-25) and of `server/discover` (2026-07-28). Pure; any
// thread.
#pragma once

#include "mcp/protocol/server_facts.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::size_t longest_bundle_instructions = 8 * 1024;  // bytes

inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

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
    std::string_view title{};    // empty: none
    std::string_view version{};  // of the gateway
    // The configured ones; empty: those of the members, each under a heading, up to longest_bundle_instructions.
    std::string_view instructions{};
    bool lists_tools = false;  // the bundle has tools of its own
};

// Raw `serverInfo`.
std::string bundle_info(const opening_words& words);

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

}  // namespace mcp
