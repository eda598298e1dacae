// How the request of a connection waits until its caller's deadline for what does not depend on it: an answer of another loop, or
// one that many requests wait for. What is waited for goes on without it, and knows nothing of the connection then.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/types.hpp"
#include "net/server/caller_exchange.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace net {

// Waits until `over` says so, which is asked whenever caller.clock().wake() is set. False: `due` came first, or the connection was
// aborted, or the request interrupted, or its caller has reset it. The caller's bytes are not looked at meanwhile. On the thread of the
// caller's loop.
template <class Over>
routine<bool> wait_until(caller_exchange& caller, core::steady_time due, Over over)
{
    auto& clock = caller.clock();
    clock.start_until(due);
    while (!over() && !clock.expired() && !caller.aborted() && !clock.interrupted() && !caller.was_reset()) {
        co_await clock.wait();
    }
    clock.stop();
    co_return over();
}

// So many questions of a loop may be under way that nobody waits for: each holds memory, and no connection bounds their number.
inline constexpr std::size_t most_unheard = 1024;

// How many there are, of the loop that this thread runs.
inline std::size_t& unheard() noexcept
{
    thread_local std::size_t questions = 0;
    return questions;
}

// Why a wait until the deadline of the caller's own gave nothing: upstream_timeout with the detail `deadline`, draining, or caller_gone.
inline core::error gave_up(const caller_exchange& caller)
{
    if (caller.was_reset() && !caller.aborted()) {
        return core::caller_error(core::errc::caller_gone, "wait");
    }
    return caller.aborted() || caller.interrupted() ? core::gateway_error(core::errc::draining, "wait")
                                                    : core::upstream_error(core::errc::upstream_timeout, "deadline");
}

// Asks like `ask` (net/loop/ask.hpp), until `due`; for as long as it takes if most_unheard are under way then. The caller's loop runs until the
// answer is there. Nothing: as wait_until(). Exceptions of the task arrive here if they come in time.
template <class T>
routine<std::optional<T>> ask_until(caller_exchange& caller, core::steady_time due, executor there, task<T> question)
{
    struct waiting {
        std::optional<T> answer;
        std::exception_ptr failure;
        signal* wake = nullptr;  // null: nobody waits any more
        bool over = false;
    };
    const auto state = std::make_shared<waiting>();
    state->wake = &caller.clock().wake();
    auto here = asio::make_work_guard(caller.owner().get_executor());
    asio::co_spawn(
        there,
        std::move(question),
        [state, here = std::move(here)](const std::exception_ptr& failure, T answer) {
            asio::post(here.get_executor(), [state, failure, told = std::move(answer)]() mutable {
                state->failure = failure;
                state->answer.emplace(std::move(told));
                state->over = true;
                if (state->wake != nullptr) {
                    state->wake->set();
                } else {
                    --unheard();
                }
            });
        }
    );
    const auto is_over = [state] { return state->over; };
    auto waits = wait_until(caller, due, is_over);
    bool told = co_await std::move(waits);
    // A request that was reset holds more than its question.
    const bool given_up = caller.aborted() || caller.interrupted() || caller.was_reset();
    if (!told && !given_up && unheard() >= most_unheard) {
        auto goes_on = wait_until(caller, never, is_over);
        told = co_await std::move(goes_on);
    }
    if (!told) {
        state->wake = nullptr;
        ++unheard();
    }
    if (state->failure) {
        std::rethrow_exception(state->failure);
    }
    co_return state->over ? std::move(state->answer) : std::nullopt;
}

}  // namespace net
