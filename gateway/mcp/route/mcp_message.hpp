// Changes a message to an MCP server on its way there: other names where callers use them, and what is remembered of it.
// The requests outlive the routines. One thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/calls/event_gate.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"
#include "net/loop/routine.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace gateway::model {
struct control_services;
}

namespace gateway::request {
struct request_context;
}  // namespace gateway::request

namespace gateway::mcp::route {

struct mcp_call;

// The owner of the session that the request begins or is part of: ids are sealed for that.
::mcp::session_binding binding_of(const request::request_context& request);

// Reads the session that a client's `initialize` begins. The server chooses the version; what is sealed is the one that the
// client asks for, and only counts where a later request has none.
::mcp::sealed_session session_begun_by(const ::mcp::incoming& initialize, std::string_view body);

// Whether the caller may call each method of the requests in the body: other messages need the right to call the agent in any way.
bool may_post(const request::request_context& request, const ::mcp::incoming_body& read, std::string_view body);

// Why a server may not be given an address to which it would send events (SEP-3415): the one that push notifications would have.
// nullopt: it may.
std::optional<::mcp::refusal>
refused_webhook(const ::mcp::incoming_body& read, std::string_view body, const config::settings& settings);

// Services that the following functions need; both outlive the request.
struct message_services {
    model::control_services& control;
    const std::shared_ptr<const ::mcp::session_ids>& ids;  // not null
};

// Returns the edits of the body: sets call.edited_body, server_name and edit, where the agent has filters or what it hands out is
// sealed. Fails with invalid_params (it is hidden, or a task of somebody else), input_expired and invalid_request.
core::result<std::vector<::mcp::text_edit>>
edit_for_server(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body, const message_services& with);

// Sets call.edit for the answer to a GET of a session, whose messages are edited one by one.
void edit_stream(mcp_call& call, const message_services& with);

// The answer to a request that edit_for_server() refuses.
net::routine<> refuse_hidden(request::request_context& request, core::error failure);

// Terms of the events that answer the request, or that the server says unasked. `replayed`: as event_gate::terms; `limit`: bytes
// of an event.
::mcp::event_gate::terms event_terms(const mcp_call& call, bool replayed, std::uint64_t limit);

// Adds the field `Mcp-Name` if the request has it: behind what names the session.
void write_name(mcp_call& call, const ::mcp::head_field& name);

// Sets call.state_params to what the next session with the server has to be told again.
void note_state(mcp_call& call, const ::mcp::incoming& message, std::string_view body);

}  // namespace gateway::mcp::route
