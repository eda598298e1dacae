#include "gateway/sessions/session_facts.hpp"

namespace gateway::sessions {

using core::errc;
using ::mcp::session_state;

std::optional<core::error> trouble_of(const session_standing& now)
{
    switch (now.state) {
        case session_state::ready:
        case session_state::degraded:
            return std::nullopt;
        case session_state::configured:
            return core::upstream_error(errc::session_not_started);
        case session_state::starting:
        case session_state::initializing:
        case session_state::discovering:
            return core::upstream_error(now.needs_operator ? errc::session_misconfigured : errc::session_not_ready);
        case session_state::backoff:
        case session_state::failed:
            if (now.needs_operator) {
                return core::upstream_error(errc::session_misconfigured);
            }
            return core::upstream_error(now.begun ? errc::session_crashed : errc::session_failed);
        case session_state::stopping:
        case session_state::stopped:
            return core::gateway_error(errc::draining);
    }
    return core::upstream_error(errc::session_not_ready);
}

bool is_down(errc trouble) noexcept
{
    return trouble == errc::session_crashed || trouble == errc::session_failed ||
           trouble == errc::session_misconfigured;
}

}  // namespace gateway::sessions
