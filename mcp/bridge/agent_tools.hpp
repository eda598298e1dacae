// An agent of A2A as an MCP server: what its card says becomes tools, and the facts that a server states; calls of these tools become
// requests of A2A 1.0 over JSON-RPC. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

enum class agent_act : std::uint8_t { send, get, cancel };

// Arguments of a call of a tool, read. Views are into the arguments.
struct agent_order {
    agent_act act = agent_act::send;
    std::string message{};                   // of send
    std::string_view data{};                 // raw object, of send; empty: none
    std::string skill{};                     // id, of send; empty: none
    std::string context{};                   // empty: none
    std::string task{};                      // of get and cancel: not empty
    std::optional<std::uint32_t> history{};  // of get
};

struct read_order {
    std::optional<agent_order> order;  // nothing: see `problem`
    std::string problem;               // for the model that wrote the arguments
};

// Fails with invalid_params: the agent has no such tool. `arguments`: raw; empty: none.
core::result<read_order> read_agent_order(const agent_tools& tools, std::string_view tool, std::string_view arguments);

// How the call of A2A answers: with a stream, or at once with the task as it is then.
enum class agent_reply_form : std::uint8_t { stream, at_once };

// `SendStreamingMessage` or `SendMessage`, from the user. `message_id` is one that no other message has.
std::string send_request(const agent_order& order, agent_reply_form form, std::string_view message_id);

// `GetTask`; without `history` the agent sends no messages of it.
std::string get_request(std::string_view task, std::optional<std::uint32_t> history);

std::string cancel_request(std::string_view task);
std::string subscribe_request(std::string_view task);

}  // namespace mcp
