// Meaning of a session's state for requests for its card. Pure.
#pragma once

#include "core/error.hpp"
#include "mcp/session/session_state.hpp"

#include <optional>

namespace gateway::sessions {

struct session_standing {
    ::mcp::session_state state = ::mcp::session_state::configured;
    bool begun = false;           // it was ready once
    bool needs_operator = false;  // what the latest attempt failed with does not pass by itself
};

// Why there is no card while a session stands like that (session_not_started, session_not_ready, session_failed,
// session_crashed, session_misconfigured, draining); nothing: there is one.
std::optional<core::error> trouble_of(const session_standing& now);

// The session was lost or could not begin, and another attempt comes by itself.
bool is_down(core::errc trouble) noexcept;

}  // namespace gateway::sessions
