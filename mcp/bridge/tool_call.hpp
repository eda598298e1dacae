// A call of a tool (MCP 2026-07-28, server/tools) that a message of A2A asks for: which tool, with which arguments, and the request. Nothing
// is guessed: a message that does not say is answered with the skills. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "mcp/bridge/a2a_message.hpp"
#include "mcp/calls/name_filter.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

struct visible_tool {
    std::string name;  // as callers call it
    const listed_item* item = nullptr;
};

// The tools of a server that one caller sees.
class visible_tools {
public:
    // References outlive it. `filters`: null: the server hides nothing. `scopes`: as name_filters::shows().
    visible_tools(const server_lists& lists, const name_filters* filters, const std::vector<std::string>* scopes)
        : lists_{lists},
          filters_{filters},
          scopes_{scopes}
    {
    }

    // Nothing: the caller sees no tool of this name.
    std::optional<visible_tool> find(std::string_view name) const;

    // The first of them, at most `most`, in the server's order.
    std::vector<visible_tool> first(std::size_t most) const;

    // The description that callers read instead of the server's. Nothing: the server's.
    std::optional<std::string> description(const visible_tool& of) const;

private:
    std::optional<visible_tool> shown(const listed_item& item) const;

    const server_lists& lists_;
    const name_filters* filters_;
    const std::vector<std::string>* scopes_;
};

struct tool_call {
    std::string name;                                           // as callers call it
    std::string arguments = "{}";                               // raw object
    std::vector<std::pair<std::string, std::string>> fields{};  // `Mcp-Param-…` of the request over HTTP, not encoded
};

// The tool: the skill that the metadata name; else that of a data part `{"skill" or "tool": name, "arguments": {…}}`; else the only one.
// The arguments: those of this part; the data part beside metadata, or to the only tool; a text for the only required argument, if that
// is a string; none if neither data nor text says anything. Nothing: the message does not say. Fails with invalid_params: an unknown
// skill, arguments that are no object.
a2a::translation<std::optional<tool_call>> choose_tool(const a2a_message& said, const visible_tools& tools);

inline constexpr std::size_t most_told_skills = 50;
inline constexpr std::size_t most_told_bytes = 16 * 1024;

// Parts of a message that lists the skills: a raw array with a text, and with data that has each skill's `id`, `description` and, where
// there is room, `inputSchema`. At most most_told_skills, and most_told_bytes in all.
std::string skills_parts(const visible_tools& tools);

// What the gateway declares in calls for callers of A2A: their questions become the state input-required.
inline constexpr std::string_view bridge_capabilities = R"({"elicitation":{"form":{}}})";

// The JSON-RPC request, with id and progress token 1. `client`: raw `clientInfo`.
std::string tool_call_text(const tool_call& call, std::string_view client, const given_input& input = {});

}  // namespace mcp
