// Deadlines of everything on one loop, swept by one timer. A timer per operation would cost a third of a relayed call;
// here setting a deadline is one store. Coarse: a deadline fires up to `shortest_turn` late, one that is set for less than `sweep_interval`
// up to that; never early.
#pragma once

#include "core/clock.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>

namespace net {

// The time when a loop last ran: a loop that is stuck stops beating. Beaten by one thread, read by any; no lock.
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

inline constexpr std::chrono::milliseconds sweep_interval{90};
inline constexpr std::chrono::milliseconds shortest_turn{10};
inline constexpr core::steady_time never = core::steady_time::max();

// Something that wants to be told when its time is up. Linked for as long as it lives; one thread.
class timed : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    virtual ~timed() = default;

    core::steady_time due() const noexcept { return due_; }
    void set_due(core::steady_time when) noexcept { due_ = when; }

    // The time is up; due() is `never` again. May set a new one and may destroy anything.
    virtual void on_due() = 0;

    // Every sweep, due or not: the place for housekeeping of what lies idle. Must not destroy anything that is timed
    // and must not resume a coroutine.
    virtual void on_sweep(core::steady_time) {}

private:
    core::steady_time due_ = never;
};

class deadlines {
public:
    explicit deadlines(asio::io_context& io);

    void add(timed& t);

    // Sweeps until stop(), after which the timer keeps no loop alive.
    void start();
    void stop();

    // Tells everything whose time is up at `now`, which does not go back. Gives when to do so again. The timer calls it.
    core::steady_time turn(core::steady_time now);

    // Beats with every turn. It lives as long as the deadlines.
    const heartbeat& pulse() const noexcept { return pulse_; }

private:
    void run();
    void sweep(core::steady_time now);

    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>
        timer_;
    using timed_list = boost::intrusive::list<timed, boost::intrusive::constant_time_size<false>>;
    timed_list all_;
    timed_list soon_;  // that were due before the next sweep when the last one came by
    timed_list due_;   // of the turn under way
    core::steady_time next_sweep_ = core::steady_time::min();
    bool stopped_ = true;
    heartbeat pulse_;
};

}  // namespace net
