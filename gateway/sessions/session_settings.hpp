// Settings that an agent's record makes for the session with it, but for its secrets and tokens, which change. Pure.
#pragma once

#include "core/agent.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/session/session_context.hpp"
#include "mcp/transport/http_transport.hpp"

namespace gateway::sessions {

// `turns`: for what is a program of this machine; anything else waits for nobody. `walk`: mcp.walk.
::mcp::runner_settings
runner_settings_of(const core::agent& record, ::mcp::start_turns* turns = nullptr, core::duration walk = {});

// Settings of a server that is reached over HTTP. The agent's credentials are for its MCP server too; a bearer, unless the server's own
// headers say who is calling.
::mcp::http_settings http_settings_of(const model::agent_entry& agent);

}  // namespace gateway::sessions
