// The timers of one session, by name. On the loop's thread.
#pragma once

#include "core/clock.hpp"
#include "mcp/session/session_state.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace mcp {

// In steady time.
using timer = net::asio::
    basic_waitable_timer<std::chrono::steady_clock, net::asio::wait_traits<std::chrono::steady_clock>, net::executor>;

class session_timers {
public:
    // `fired` may destroy the timers. The loop outlives them.
    session_timers(net::loop& on, std::function<void(timer_name name)> fired);

    // One that runs starts over.
    void arm(timer_name name, core::duration after);

    // The timer does not fire, even if it is due.
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

    std::function<void(timer_name)> fired_;
    std::vector<entry> entries_;  // by name
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace mcp
