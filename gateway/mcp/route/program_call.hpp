// Makes a request to a session in this process (gateway/model/program_port.hpp) of a checked message of an MCP client. One thread.
#pragma once

#include "gateway/model/program_port.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"
#include "net/loop/routine.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gateway::model {
struct agent_entry;
}

namespace gateway::mcp::route {

struct mcp_call;

// The request that remains to be passed on.
struct program_call {
    model::program_request asked;
    ::mcp::answer_form form = ::mcp::answer_form::either;  // that the caller takes
    bool primed = false;  // a stream of events begins with one that is empty (MCP 2025-11-25, basic/transports)
};

// A body that has been checked. References; only for the call that it is passed to.
struct program_message {
    const ::mcp::head_fields& head;
    const ::mcp::incoming_body& read;
    std::string_view body;
    std::span<const ::mcp::text_edit> edits;  // that made mcp_call::edited_body of it; empty: it is as it came
    const ::mcp::sealed_session* session;     // that it belongs to; null: none
};

// Sets of.program, or returns the answer to a message that goes no further.
std::optional<net::routine<>> set_program_call(mcp_call& of, const program_message& what);

// The replica where the call waits that a client of the modern era comes back to; 0: in this one, or it is no such request.
std::uint64_t home_of_parked(const program_call& call, const ::mcp::session_ids& ids);

// Calls mcp::read_incoming(), and does the other work on a long message that would hold a worker up: of.input_digest. Any thread, while the
// request waits.
::mcp::incoming_body read_long(mcp_call& of, std::string_view body);

// Whether a message to this MCP server goes there at all, not straight to a server over streamable HTTP. `alone`: it is part of no
// session, and begins none.
bool is_for_program_port(const model::agent_entry& agent, bool legacy, bool alone);

// Sets of.program for a GET or a DELETE. A GET with Last-Event-ID asks for the rest of a stream.
void set_program_call(
    mcp_call& of,
    model::program_act act,
    const ::mcp::head_fields& head,
    const ::mcp::sealed_session& session
);

}  // namespace gateway::mcp::route
