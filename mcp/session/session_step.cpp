#include "mcp/session/session_step.hpp"

namespace mcp {

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
