// A question to another loop that a request waits for until its caller's deadline. What is asked goes on without it.
#pragma once

#include "core/clock.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/types.hpp"
#include "net/server/server_connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::traffic {

// On the thread of the caller's loop, which runs until the answer is there. Nothing: `due` came first, or the connection was aborted.
// Exceptions of the task arrive here if they come in time. The caller's bytes are not looked at meanwhile.
template <class T>
net::routine<std::optional<T>>
ask_until(net::server_connection& caller, core::steady_time due, net::executor there, net::task<T> question)
{
    struct waiting {
        std::optional<T> answer;
        std::exception_ptr failure;
        net::signal* wake = nullptr;  // null: nobody waits any more
        bool over = false;
    };
    const auto state = std::make_shared<waiting>();
    state->wake = &caller.clock().wake();
    auto here = net::asio::make_work_guard(caller.owner().get_executor());
    net::asio::co_spawn(
        there,
        std::move(question),
        [state, here = std::move(here)](const std::exception_ptr& failure, T answer) {
            net::asio::post(here.get_executor(), [state, failure, told = std::move(answer)]() mutable {
                state->failure = failure;
                state->answer.emplace(std::move(told));
                state->over = true;
                if (state->wake != nullptr) {
                    state->wake->set();
                }
            });
        }
    );
    auto& clock = caller.clock();
    clock.start_until(due);
    while (!state->over && !clock.expired() && !caller.aborted()) {
        co_await clock.wait();
    }
    clock.stop();
    state->wake = nullptr;
    if (state->failure) {
        std::rethrow_exception(state->failure);
    }
    co_return state->over ? std::move(state->answer) : std::nullopt;
}

}  // namespace gateway::traffic
