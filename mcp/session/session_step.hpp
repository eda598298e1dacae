// One event on its way through a session, with the actions that it gives. Between events it keeps what the actions have
// changed: the reported state and the armed timers. Pure; one thread at a time.
#pragma once

#include "mcp/session/session_state.hpp"

#include <bitset>
#include <cstddef>
#include <utility>
#include <vector>

namespace mcp {

class session_step {
public:
    // A timer that fires is no longer armed.
    void begin(const session_event& event, core::steady_time now, double random);
    std::vector<session_action> end() { return std::exchange(actions_, {}); }

    // Of the event under way. `random` is from [0, 1).
    const session_event& event() const noexcept { return event_; }
    core::steady_time now() const noexcept { return now_; }
    double random() const noexcept { return random_; }

    session_state state() const noexcept { return state_; }
    session_reason reason() const noexcept { return reason_; }
    bool armed(timer_name timer) const noexcept { return armed_[static_cast<std::size_t>(timer)]; }

    session_action& act(action_kind kind);
    void arm(timer_name timer, core::duration after);
    void disarm(timer_name timer);

    // All but `stop`: what waits for a connection to be closed goes on waiting.
    void disarm_all();

    // Reports the state, unless it was reported last.
    void enter(session_state state, session_reason why = session_reason::none);

private:
    session_event event_;
    core::steady_time now_{};
    double random_ = 0;
    std::vector<session_action> actions_;
    std::bitset<timer_names> armed_;
    session_state state_ = session_state::configured;
    session_reason reason_ = session_reason::none;
};

}  // namespace mcp
