// Calls of the tools of an A2A agent as requests of A2A 1.0 over JSON-RPC. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/bridge/agent_tools.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcp {

enum class agent_act : std::uint8_t { send, get, cancel };

// Arguments of a call of a tool, read. Views are into the arguments.
struct agent_order {
    agent_act act = agent_act::send;
    std::string message;                   // of send
    std::string_view data;                 // raw object, of send; empty: none
    std::string skill;                     // id, of send; empty: none
    std::string context;                   // empty: none
    std::string task;                      // of get and cancel: not empty
    std::optional<std::uint32_t> history;  // of get
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
