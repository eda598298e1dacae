// What a message of A2A 1.0 to an agent that is a server of MCP asks for (a2a.proto of 1.0.1, `SendMessageRequest`, `Message`, `Part`): a call of
// a tool (MCP 2026-07-28, server/tools), which tool, with which arguments, and the request. Nothing is guessed: a message that does not
// say is answered with the skills. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
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

inline constexpr std::size_t most_message_parts = 64;
inline constexpr std::size_t longest_a2a_id = 256;  // bytes of a task's, a context's or a skill's

struct a2a_message {
    std::string context;  // `contextId`; empty: a new one
    std::string task;     // `taskId`; empty: the message begins a task
    std::string
        skill;  // that `skillId` or `skill` in the metadata of the message, else of the request, names; empty: none
    std::string text;   // of all parts of text, with line ends between them; empty: none says anything
    std::string data;   // of the only data part, raw and compact; empty: there is none
    bool waits = true;  // for the end of the task, or for a question: not `returnImmediately`
};

// `params`: raw, of a body that has been checked as JSON; empty: none. Fails with invalid_params and the member: not such a message, a
// role that is not the user's, no part, a part with no content or two, a file, two data parts, an id that is too long; with
// push_not_supported for a push configuration.
a2a::translation<a2a_message> read_a2a_message(std::string_view params);

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
