// What the gateway itself answers to clients that share a session with a server. Pure; any thread.
#pragma once

#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::mcp::shared {

// The version of a client that asks for this one, in a session that speaks the other: the older one. Of a version that is not known
// the session's. Views into the arguments.
std::string_view common_version(std::string_view asked, std::string_view spoken) noexcept;

// To `initialize` with this raw id: what the server has said of itself, without tasks, since it cannot tell whose one is.
std::string initialize_answer(std::string_view id, std::string_view version, const ::mcp::server_facts& server);

// To `server/discover` (MCP 2026-07-28), the same.
std::string discover_answer(std::string_view id, const ::mcp::server_facts& server);

// To a request that concerns the client alone (`ping`, `logging/setLevel`), or that would let one client touch what is another's
// (`tasks/…`: -32601). Nothing: it is for the server.
std::optional<std::string> answer_here(const ::mcp::client_message& request);

// An answer with this raw id, and this raw member: `result` or `error`.
std::string answer_with(std::string_view id, std::string_view member, std::string_view raw);

}  // namespace gateway::mcp::shared
