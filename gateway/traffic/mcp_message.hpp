// What becomes of a message to an MCP server on its way there: other names where callers use them, and what is remembered of it.
// The requests outlive the routines. One thread.
#pragma once

#include "core/error.hpp"
#include "gateway/model/side_thread.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"
#include "net/loop/routine.hpp"

#include <optional>
#include <string_view>

namespace gateway::traffic {

struct request_context;

// Whose the session is that the request begins or is part of: ids are sealed for that.
mcp::session_binding binding_of(const request_context& request);

// Whether the caller may call each method of the requests in the body: other messages need the right to call the agent in any way.
bool may_post(const request_context& request, const mcp::incoming_body& read, std::string_view body);

// What was changed of the body: sets request.edited_body, server_name and edit, where the agent has filters that ask for it. Fails with invalid_params (it is
// hidden) and invalid_request. `long_bodies` outlives the request.
core::result<std::optional<mcp::text_edit>> edit_for_server(
    request_context& request,
    const mcp::incoming_body& read,
    std::string_view body,
    model::side_thread& long_bodies
);

// The answer to a request that edit_for_server() refuses.
net::routine<> refuse_hidden(request_context& request, core::error failure);

// Adds the field `Mcp-Name` if the request has it: behind what names the session.
void write_name(request_context& request, const mcp::head_field& name);

// Sets request.state_params of what the next session with the server has to be told again.
void note_state(request_context& request, const mcp::incoming& message, std::string_view body);

}  // namespace gateway::traffic
