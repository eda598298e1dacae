// Facts that follow from an agent's record alone. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/redaction.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace gateway::model {

// Secrets that the agent is given, be it an MCP server or not. `tokens`: of its OAuth server.
core::redaction secrets_of(const core::agent& record, std::initializer_list<std::string_view> tokens = {});

// Whether both mean the same session with an MCP server, however else they differ: what is asked, how and with what.
bool same_session(const core::agent& a, const core::agent& b);

// Digest of all that a session with the agent's MCP server depends on, secrets included: two processes compare it. Empty: the agent has none.
std::string session_fingerprint(const core::agent& record);

// An MCP server that logs callers in itself: their Authorization is for the server, and no credential for the gateway.
bool passes_logins(const core::agent& record);

// The gateway keeps a session with the agent's MCP server: for its card, or for callers.
bool needs_session(const core::agent& record);

// One session can serve both records.
bool keeps_session(const core::agent& a, const core::agent& b);

// Callers' sessions can serve both records. An inline card does not end them: it needs no session of the gateway's own.
bool same_callers_sessions(const core::agent& a, const core::agent& b);

}  // namespace gateway::model
