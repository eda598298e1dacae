// One routine waits, several things wake it. A relay waits for two sockets and a deadline at once; each of them marks what
// has become of it and sets the signal, and the routine looks at what has happened. (Awaiting a parallel group instead
// costs a third of a relayed call.) Nothing is remembered: look first, then wait; on one thread nothing can happen in
// between.
#pragma once

#include <coroutine>
#include <utility>

namespace net {

class signal {
public:
    signal() = default;
    signal(const signal&) = delete;
    signal& operator=(const signal&) = delete;

    // Wakes the waiting routine, if there is one, inside this call; it may destroy the signal.
    void set()
    {
        if (waiter_) {
            std::exchange(waiter_, nullptr).resume();
        }
    }

    // To be awaited at once, by at most one routine at a time.
    auto wait() noexcept
    {
        struct step {
            signal& on;
            bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<> who) noexcept { on.waiter_ = who; }
            void await_resume() noexcept {}
        };
        return step{*this};
    }

private:
    std::coroutine_handle<> waiter_;
};

}  // namespace net
