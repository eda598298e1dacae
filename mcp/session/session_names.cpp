#include "mcp/session/session_state.hpp"

namespace mcp {

std::string_view name(session_state s) noexcept
{
    switch (s) {
        case session_state::disabled:
            return "disabled";
        case session_state::configured:
            return "configured";
        case session_state::starting:
            return "starting";
        case session_state::initializing:
            return "initializing";
        case session_state::discovering:
            return "discovering";
        case session_state::ready:
            return "ready";
        case session_state::degraded:
            return "degraded";
        case session_state::backoff:
            return "backoff";
        case session_state::failed:
            return "failed";
        case session_state::stopping:
            return "stopping";
        case session_state::stopped:
            return "stopped";
    }
    return {};
}

std::string_view name(timer_name t) noexcept
{
    switch (t) {
        case timer_name::start:
            return "start";
        case timer_name::silence:
            return "silence";
        case timer_name::discovery:
            return "discovery";
        case timer_name::ping:
            return "ping";
        case timer_name::pong:
            return "pong";
        case timer_name::debounce:
            return "debounce";
        case timer_name::refresh:
            return "refresh";
        case timer_name::listen:
            return "listen";
        case timer_name::verdict:
            return "verdict";
        case timer_name::backoff:
            return "backoff";
        case timer_name::drain:
            return "drain";
        case timer_name::stop:
            return "stop";
    }
    return {};
}

std::string_view name(session_reason r) noexcept
{
    switch (r) {
        case session_reason::none:
            return "none";
        case session_reason::start_failed:
            return "start_failed";
        case session_reason::start_timeout:
            return "start_timeout";
        case session_reason::probe_failed:
            return "probe_failed";
        case session_reason::exited:
            return "exited";
        case session_reason::handshake_refused:
            return "handshake_refused";
        case session_reason::handshake_timeout:
            return "handshake_timeout";
        case session_reason::discovery_failed:
            return "discovery_failed";
        case session_reason::discovery_timeout:
            return "discovery_timeout";
        case session_reason::ping_timeout:
            return "ping_timeout";
        case session_reason::session_lost:
            return "session_lost";
        case session_reason::stream_down:
            return "stream_down";
        case session_reason::refresh_failed:
            return "refresh_failed";
        case session_reason::unreachable:
            return "unreachable";
        case session_reason::era_changed:
            return "era_changed";
    }
    return {};
}

}  // namespace mcp
