// Long work on a loop, a little at a time. Tasks that have much to do take turns, one after the other, and between two turns the
// loop does whatever else is due: however many such tasks there are, others wait for one turn. On the loop's thread.
#pragma once

#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace gateway::threads {

class turns {
public:
    // How long a turn is; who has it looks at over() after each step.
    static constexpr std::chrono::microseconds usual{2000};

    explicit turns(std::chrono::microseconds length = usual) noexcept
        : length_{length}
    {
    }
    turns(const turns&) = delete;
    turns& operator=(const turns&) = delete;

    // Returns when it is the task's turn. What is known of things that others change is to be looked up again.
    net::task<> wait()
    {
        net::task_signal called;
        auto waits = called.wait();
        const auto where = co_await net::asio::this_coro::executor;
        waiting_.push_back(&called);
        if (waiting_.size() == 1 && !calling_) {
            call_next(where);
        }
        co_await std::move(waits);
        until_ = std::chrono::steady_clock::now() + length_;
    }

    bool over() const noexcept { return std::chrono::steady_clock::now() >= until_; }

private:
    void call_next(net::executor where)
    {
        net::asio::post(where, [this, where] {
            auto* const next = waiting_.front();
            waiting_.pop_front();
            calling_ = true;
            next->set();  // the whole turn
            calling_ = false;
            if (!waiting_.empty()) {
                call_next(where);
            }
        });
    }

    std::chrono::microseconds length_;
    std::chrono::steady_clock::time_point until_;
    std::deque<net::task_signal*> waiting_;
    bool calling_ = false;
};

// Calls `step` with each of `names` in their order, in turns of `by`, which outlives the task, until one call returns false.
inline net::task<>
in_turns(turns& by, std::vector<std::string> names, std::function<bool(const std::string& name)> step)
{
    co_await by.wait();
    for (const auto& each : names) {
        if (by.over()) {
            co_await by.wait();
        }
        if (!step(each)) {
            co_return;
        }
    }
}

// Who asks on the admin listener, scrapes metrics or reloads does not stand in line with callers: where both have work, a turn
// of one follows a turn of the other, however many callers there are.
struct turn_lines {
    turns operators;
    turns callers;

    turns& of(bool for_operator) noexcept { return for_operator ? operators : callers; }
};

}  // namespace gateway::threads
