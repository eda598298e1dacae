// When a loop last ran, for others to see: a loop that is stuck stops beating. Beaten by one thread, read by any; no lock.
#pragma once

#include "core/clock.hpp"

#include <atomic>

namespace net {

class heartbeat {
public:
    void beat(core::steady_time now) noexcept
    {
        last_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }

    // The earliest time of all, if it has not beaten yet.
    core::steady_time last() const noexcept
    {
        return core::steady_time{core::steady_time::duration{last_.load(std::memory_order_relaxed)}};
    }

private:
    std::atomic<core::steady_time::rep> last_{core::steady_time::min().time_since_epoch().count()};
};

}  // namespace net
