// How much of the processors a child and all that it starts may take from others, by the autogroup of its session (sched(7)):
// unlike the nice value of a process it may be raised again without privileges. Without effect where the kernel has no autogroups
// or the gateway runs in a CPU control group. On the loop's thread.
#pragma once

#include "core/clock.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <sys/types.h>

#include <chrono>
#include <memory>

namespace net {

// Of a program that starts: a tenth of what others have, while they want it.
inline constexpr int nice_while_starting = 10;

class child_priority {
public:
    // Of a child of spawn() that has not been reaped; to be destroyed before it is.
    child_priority(loop& on, pid_t child);

    // From -20 to 19, as nice(2); below 0 needs privileges. The system takes ten such changes a second: what it refuses now is tried
    // again a little later, the latest value only.
    void set(int nice);

private:
    void apply();

    pid_t child_;
    int nice_ = 0;
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>
        again_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace net
