// One message to an MCP server on its way: the state of its route. Lives in the coroutine of that. One thread.
#pragma once

#include "core/secret.hpp"
#include "gateway/mcp/route/mcp_answer.hpp"
#include "gateway/mcp/route/mcp_repair.hpp"
#include "gateway/mcp/route/program_call.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/request/request_context.hpp"
#include "mcp/calls/tool_scan.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::route {

// The member of a bundle to which a message goes. The name in it is the member's own by then.
struct bundle_target {
    std::optional<std::string> session{};  // the id of the member's session, of a legacy client; empty: it has none
    std::string version{};  // that it speaks with the member, if that is another one; empty: the client's
    std::string event{};    // the member's, behind which a GET goes on; empty: it is no such GET
    std::string name{};     // that the message names, instead of `Mcp-Name`; empty: as it is
    std::vector<std::pair<std::string, std::string>> parameters{};  // `Mcp-Param-*` beside the caller's
    std::unique_ptr<relay::answer_edit> edit{};                     // of what the member says; null: it passes as it is
};

struct mcp_call {
    request::request_context& request;
    mcp_answer answer;                        // the terms of its answer
    std::optional<mcp_repair> repair{};       // for a server that has not acted; once it has been read
    std::unique_ptr<program_call> program{};  // to be passed to a session in this process; null: it is not
    relay::relay_call relayed{};              // to be relayed to the server, once it has an agent
    bool translated =
        false;  // of a client of the legacy era, whose server over streamable HTTP speaks only the modern one
    std::vector<std::pair<std::string, core::secret>> forwarded{
    };  // fields of the caller that the server gets in any message
    std::unique_ptr<relay::answer_edit> edit{};  // of the answer; null: it passes as it is
    std::string edited_body{};                   // replaces the body of the caller; empty: that passes
    std::string_view posted{};                   // the body as the caller sent it; of a GET or DELETE empty
    std::uint64_t home = 0;       // the replica that has the session of the message, or its parked call; 0: this one
    std::string session_lines{};  // further lines of the head, of the session
    std::string server_name{};    // of the tool, prompt or resource, if callers use another one
    std::optional<bundle_target> member{};  // of a message to a bundle; nullopt: it is to an agent
    model::program_port* port = nullptr;    // where `program` goes; null: to the sessions of callers with agents
    std::string state_params{};             // raw, of a message that a session which begins again has to be told again
    ::mcp::tool_scan tool{};                // of the answer to a call of a tool
    std::string input_digest{};  // of a long message, made where that was read; empty: of a short one, or none
};

}  // namespace gateway::mcp::route
