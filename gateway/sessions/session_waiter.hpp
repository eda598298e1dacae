// Somebody who waits for a session with an MCP server, and no longer than a given time. On the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/redirect_error.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::sessions {

class session_waiter {
public:
    session_waiter(net::loop& on, core::duration longest)
        : timer_{on.get_executor(), longest}
    {
    }

    // Counts once.
    void tell(core::result<> how)
    {
        if (!told_) {
            told_ = std::move(how);
            timer_.cancel();  // whoever waits goes on after this call
        }
    }

    // Nothing: it was not told in time.
    static net::task<std::optional<core::result<>>> wait(std::shared_ptr<session_waiter> self)
    {
        net::error_code ignored;
        if (!self->told_) {
            co_await self->timer_.async_wait(net::asio::redirect_error(net::use_task, ignored));
        }
        co_return self->told_;
    }

private:
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        timer_;
    std::optional<core::result<>> told_;
};

}  // namespace gateway::sessions
