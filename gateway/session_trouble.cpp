#include "gateway/session_trouble.hpp"

namespace gateway {

using core::errc;
using mcp::session_state;

std::optional<core::error> trouble_of(mcp::session_state state)
{
    switch (state) {
        case session_state::ready:
        case session_state::degraded:
            return std::nullopt;
        case session_state::configured:
        case session_state::disabled:
            return core::upstream_error(errc::session_not_started);
        case session_state::starting:
        case session_state::initializing:
        case session_state::discovering:
            return core::upstream_error(errc::session_not_ready);
        case session_state::backoff:
        case session_state::failed:
            return core::upstream_error(errc::session_crashed);
        case session_state::stopping:
        case session_state::stopped:
            return core::gateway_error(errc::draining);
    }
    return core::upstream_error(errc::session_not_ready);
}

}  // namespace gateway
