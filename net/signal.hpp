// One coroutine waits, several operations wake it. A relay has reads and writes in flight on two sockets and a deadline
// at once; each of them marks its own outcome and sets the signal, and the coroutine looks at what has happened.
// (Awaiting a parallel group instead costs a third of a relayed call.) Nothing is remembered: look first, then wait;
// on one thread nothing can happen in between.
#pragma once

#include "net/types.hpp"

#include <boost/asio/async_result.hpp>

#include <optional>
#include <utility>

namespace net {

class signal {
public:
    signal() = default;
    signal(const signal&) = delete;
    signal& operator=(const signal&) = delete;

    // Wakes the waiting coroutine, if there is one, inside this call.
    void set()
    {
        if (waiter_) {
            auto resume = std::move(*waiter_);
            waiter_.reset();
            resume();
        }
    }

    // At most one coroutine at a time.
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
