// The timers of one session, by name. On the loop's thread.
#pragma once

#include "core/clock.hpp"
#include "mcp/session/session_state.hpp"
#include "mcp/session/timer.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace mcp {

class timer_observer {
public:
    virtual ~timer_observer() = default;

    // May destroy the timers.
    virtual void fired(timer_name name) = 0;
};

class session_timers {
public:
    // References outlive the timers.
    session_timers(net::loop& on, timer_observer& observer);

    // One that runs starts over.
    void arm(timer_name name, core::duration after);

    // It does not fire, even if it is due.
    void disarm(timer_name name);
    void disarm_all();

    // Armed with arm_owed(), unless disarm() or forget_owed() comes before.
    void owe(timer_name name, core::duration after);
    void arm_owed();
    void forget_owed() noexcept;

    // When it fires, or has fired last.
    core::steady_time expiry(timer_name name) const;

private:
    struct entry {
        timer clock;
        std::uint64_t armings = 0;
        std::optional<core::duration> owed;
    };

    entry& at(timer_name name) { return entries_[static_cast<std::size_t>(name)]; }

    timer_observer& observer_;
    std::vector<entry> entries_;  // by name
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace mcp
