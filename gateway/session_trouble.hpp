// What a session's state means for those who ask for its card. Pure.
#pragma once

#include "core/error.hpp"
#include "mcp/session_state.hpp"

#include <optional>

namespace gateway {

// Why there is no card while a session is in this state (session_not_started, session_not_ready, session_crashed, draining);
// nothing: there is one.
std::optional<core::error> trouble_of(mcp::session_state state);

}  // namespace gateway
