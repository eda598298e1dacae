// One routine waits, several things wake it. A relay waits for two sockets and a deadline at once; each of them marks what
// has become of it and sets the signal, and the routine looks at what has happened. (Awaiting a parallel group instead
// costs a third of a relayed call.) Nothing is remembered: look first, then wait; on one thread nothing can happen in
// between.
#pragma once

#include "net/loop/types.hpp"

#include <boost/asio/async_result.hpp>

#include <coroutine>
#include <optional>
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

// A signal for a task of the control side.
class task_signal {
public:
    task_signal() = default;
    task_signal(const task_signal&) = delete;
    task_signal& operator=(const task_signal&) = delete;

    // Wakes the waiting task, if there is one, inside this call.
    void set()
    {
        if (waiter_) {
            auto resume = std::move(*waiter_);
            waiter_.reset();
            resume();
        }
    }

    // At most one task at a time.
    task<> wait()
    {
        return asio::async_initiate<const asio::use_awaitable_t<executor>, void()>(
            [this](waiter w) { waiter_.emplace(std::move(w)); },
            use_task
        );
    }

private:
    using waiter = asio::async_result<asio::use_awaitable_t<executor>, void()>::handler_type;

    std::optional<waiter> waiter_;
};

}  // namespace net
