// As net/loop/signal.hpp, for a task of the control side. Look first, then wait.
#pragma once

#include "net/loop/types.hpp"

#include <boost/asio/async_result.hpp>

#include <optional>
#include <utility>

namespace net {

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
