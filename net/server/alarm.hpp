// The wake-up of a connection's coroutine, with its deadline: whoever works for the exchange sets the one or starts the other.
// One loop's thread.
#pragma once

#include "core/clock.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/signal.hpp"

namespace net {

class alarm {
public:
    // Sets the deadline of `owner`, which calls expire() when it is due. Both outlive this.
    alarm(timed& owner, const loop& on)
        : owner_{owner},
          loop_{on}
    {
    }

    void start(core::duration from_now) { start_until(now() + from_now); }
    void start_until(core::steady_time when) noexcept
    {
        expired_ = false;
        owner_.set_due(when);
    }
    void stop() noexcept { start_until(never); }
    bool expired() const noexcept { return expired_; }

    core::steady_time now() const noexcept { return loop_.now(); }
    core::steady_time due() const noexcept { return owner_.due(); }

    auto wait() noexcept { return signal_.wait(); }
    signal& wake() noexcept { return signal_; }

    void expire()
    {
        expired_ = true;
        signal_.set();
    }

    // Nothing more of this exchange is worth waiting for, but that its answer goes out. Whoever waits looks at it.
    void interrupt()
    {
        interrupted_ = true;
        signal_.set();
    }
    bool interrupted() const noexcept { return interrupted_; }
    void begin() noexcept { interrupted_ = false; }  // the next exchange

private:
    timed& owner_;
    const loop& loop_;
    signal signal_;
    bool expired_ = false;
    bool interrupted_ = false;
};

}  // namespace net
