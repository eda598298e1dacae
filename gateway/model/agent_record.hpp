// What follows from an agent's record alone. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/redaction.hpp"

namespace gateway::model {

// What the agent is given to keep, be it an MCP server or not.
core::redaction secrets_of(const core::agent& record);

// Whether both mean the same session with an MCP server, however else they differ: what is asked, how and with what.
bool same_session(const core::agent& a, const core::agent& b);

}  // namespace gateway::model
