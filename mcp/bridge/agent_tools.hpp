// An agent of A2A as an MCP server: what its card says becomes tools, and the facts that a server states. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/json/json.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::string_view send_tool = "send_message";
inline constexpr std::string_view get_tool = "get_task";
inline constexpr std::string_view cancel_tool = "cancel_task";

// The extension by which the task of a call is followed (SEP-2663).
inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

inline constexpr std::size_t longest_tool_of_skill = 64;  // bytes of a name
inline constexpr std::size_t longest_agent_description =
    16 * 1024;  // bytes of a tool's description, cut between skills
inline constexpr std::size_t longest_agent_instructions = 8 * 1024;  // bytes

struct agent_tools {
    server_lists lists;                                      // of the modern era; only tools
    std::map<std::string, std::string, std::less<>> skills;  // ids, by the names of their tools
    bool streams = false;                                    // the agent says that it answers with streams
};

// `card`: repaired (a2a::repair_card()), of any generation, with the skills that everyone may see. `agent_id` names a server whose card has
// no usable name. With tool_form::agent: send_tool, get_tool and cancel_tool. With tool_form::skills: one for each skill instead of
// send_tool, whose name is the skill's id with '_' for what names do not have; one that is too long, or then equal to
// another, ends with '_' and 8 hex digits of the SHA-256 of the id. Of two skills with one id the second has no tool. Linear in the card.
agent_tools tools_of_card(const core::json& card, core::tool_form form, std::string_view agent_id);

}  // namespace mcp
