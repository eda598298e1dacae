// A thread for what blocks and is asked for rarely: one thing after the other, in the order of asking.
#pragma once

#include "net/loop/types.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <functional>
#include <thread>
#include <utility>

namespace gateway::threads {

class side_thread {
public:
    side_thread()
        : work_{io_.get_executor()},
          thread_{[this] { io_.run(); }}
    {
    }

    // Waits for what was asked; nobody waits for an answer any more.
    ~side_thread()
    {
        work_.reset();
        thread_.join();
    }
    side_thread(const side_thread&) = delete;
    side_thread& operator=(const side_thread&) = delete;

    // `question` runs on this thread; the answer comes back to the loop of whoever awaits it.
    template <class T>
    net::task<T> ask(std::function<T()> question)
    {
        auto there = carried_out<T>(std::move(question));
        co_return co_await net::asio::co_spawn(io_.get_executor(), std::move(there), net::use_task);
    }

    // `work` runs on this thread, and nobody waits for it.
    void post(std::function<void()> work) { net::asio::post(io_, std::move(work)); }

private:
    template <class T>
    static net::task<T> carried_out(std::function<T()> question)
    {
        co_return question();
    }

    net::asio::io_context io_{1};
    net::asio::executor_work_guard<net::executor> work_;
    std::thread thread_;
};

}  // namespace gateway::threads
