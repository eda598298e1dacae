// How the gateway waits while it stops: for something that becomes true, up to a time, and no longer once that was cut short. On
// the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <functional>

namespace gateway::threads {

class drain_wait {
public:
    explicit drain_wait(net::executor on)
        : poll_{on}
    {
    }

    // From now on only what has no latest time is waited for.
    void cut_short() noexcept { cut_short_ = true; }

    // Until `done`, which is asked a hundred times a second, or until `latest`; net::never: as long as it takes.
    net::task<> wait(std::function<bool()> done, core::steady_time latest);

private:
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        poll_;
    bool cut_short_ = false;
};

}  // namespace gateway::threads
