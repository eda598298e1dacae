#include "mcp/session/session_state.hpp"

#include <algorithm>
#include <array>

namespace mcp {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, session_states> state_names{
    "configured",
    "starting",
    "initializing",
    "discovering",
    "ready",
    "degraded",
    "backoff",
    "failed",
    "stopping",
    "stopped",
};

constexpr std::array<std::string_view, timer_names> names_of_timers{
    "start",
    "silence",
    "discovery",
    "ping",
    "pong",
    "debounce",
    "refresh",
    "listen",
    "backoff",
    "stop"
};

constexpr std::array<std::string_view, session_reasons> reason_names{
    "none",
    "start_failed",
    "start_timeout",
    "probe_failed",
    "exited",
    "handshake_refused",
    "handshake_timeout",
    "ping_timeout",
    "session_lost",
    "stream_down",
    "refresh_failed",
    "unreachable",
    "era_changed",
};

template <std::size_t Size, class Value>
std::string_view name_in(const std::array<std::string_view, Size>& names, Value value) noexcept
{
    const auto index = static_cast<std::size_t>(value);
    return index < Size ? names[index] : std::string_view{};
}

}  // namespace

std::string_view name(session_state s) noexcept
{
    return name_in(state_names, s);
}

std::string_view name(timer_name t) noexcept
{
    return name_in(names_of_timers, t);
}

std::string_view name(session_reason r) noexcept
{
    return name_in(reason_names, r);
}

core::duration backoff_delay(const session_settings& settings, unsigned failures, double random) noexcept
{
    const auto longest = static_cast<double>(settings.backoff_longest.count());
    auto delay = static_cast<double>(settings.backoff_first.count());
    for (unsigned i = 1; i < failures && delay < longest; ++i) {
        delay *= 1.5;
    }
    delay = std::min(delay, longest);
    return core::duration{static_cast<core::duration::rep>(delay * (1.0 - std::clamp(random, 0.0, 1.0) / 2))};
}

void session_step::begin(const session_event& event, core::steady_time now, double random)
{
    event_ = event;
    now_ = now;
    random_ = random;
    if (event.kind == event_kind::timer) {
        armed_.reset(static_cast<std::size_t>(event.fired));
    }
}

session_action& session_step::act(action_kind kind)
{
    auto& action = actions_.emplace_back();
    action.kind = kind;
    return action;
}

void session_step::arm(timer_name timer, core::duration after)
{
    armed_.set(static_cast<std::size_t>(timer));
    auto& action = act(action_kind::arm);
    action.timer = timer;
    action.after = after;
}

void session_step::disarm(timer_name timer)
{
    if (armed(timer)) {
        armed_.reset(static_cast<std::size_t>(timer));
        act(action_kind::disarm).timer = timer;
    }
}

void session_step::disarm_all()
{
    for (std::size_t i = 0; i < timer_names; ++i) {
        if (const auto timer = static_cast<timer_name>(i); timer != timer_name::stop) {
            disarm(timer);
        }
    }
}

void session_step::enter(session_state state, session_reason why)
{
    if (state_ == state && reason_ == why) {
        return;
    }
    state_ = state;
    reason_ = why;
    auto& action = act(action_kind::report);
    action.state = state;
    action.reason = why;
}

}  // namespace mcp
