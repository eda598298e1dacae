// The messages of `cardea call`: A2A 0.3 and 1.0 over JSON-RPC, and MCP 2026-07-28. Pure.
#pragma once

#include "core/json/json.hpp"
#include "gateway/cli/admin_client.hpp"

#include <string>
#include <string_view>

namespace gateway::cli {

// A message to an agent. At least one of `text` and `document` is given.
struct message_to_agent {
    std::string agent;     // its id
    std::string version;   // of A2A-Version, such as 1.0
    std::string text;      // the text part; empty: none
    std::string document;  // JSON, the data part; empty: none
    std::string id;        // of the message
    bool stream = false;
};

// SendMessage or SendStreamingMessage, of 0.x message/send or message/stream, as a try.
admin_request request_of(const message_to_agent& what);

// A call of a tool of the agent as a try. `arguments` is a JSON object. `schema` is the tool's inputSchema: arguments that it wants
// repeated go into fields of the head too; null: none.
admin_request
tool_request(std::string_view agent, const std::string& tool, const std::string& arguments, const core::json& schema);

// A page of the agent's tools as a try. An empty cursor begins.
admin_request tools_request(std::string_view agent, const std::string& cursor);

// The generation that an agent with this card is called in: 1.0, unless it offers 0.3 alone.
std::string_view version_for(const core::json& card);

// The meaning of one JSON-RPC message of an answer, or of the body of a refusal. Text is as it came, not printable.
struct heard {
    std::string text{};      // of parts and content
    bool goes_on = false;    // the text continues the one before it
    std::string state{};     // of a task, such as `input-required`
    std::string task{};      // its id
    std::string progress{};  // of a tool
    std::string failure{};   // why there is no result, or that the tool reports an error
    bool result = false;     // it is the answer, or an event of it
};
heard read_message(const core::json& message);

// Why a task that ends in this state has not done what it was asked for; empty: it has, or it has not ended.
std::string_view failure_of(std::string_view state) noexcept;

// The `tools` as a table.
std::string tools_table(const core::json& tools);

}  // namespace gateway::cli
