// The store on a thread of its own: the control loop asks and goes on; what it asked is carried out in that order.
#pragma once

#include "core/error.hpp"
#include "net/loop/types.hpp"
#include "store/engine.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace gateway::model {

class store_thread {
public:
    explicit store_thread(std::unique_ptr<store::engine> engine);

    // Waits for what was asked; nobody waits for an answer any more.
    ~store_thread();
    store_thread(const store_thread&) = delete;
    store_thread& operator=(const store_thread&) = delete;

    bool durable() const noexcept { return engine_->durable(); }

    // The engine itself, for as long as nothing has been asked yet: at the start.
    store::engine& engine() noexcept { return *engine_; }

    // `what` runs on the store's thread; the answer comes back to the loop of whoever awaits it.
    template <class T>
    net::task<T> ask(std::function<T(store::engine&)> what)
    {
        auto there = carried_out<T>(std::move(what));
        co_return co_await net::asio::co_spawn(io_.get_executor(), std::move(there), net::use_task);
    }

private:
    template <class T>
    net::task<T> carried_out(std::function<T(store::engine&)> what)
    {
        co_return what(*engine_);
    }

    std::unique_ptr<store::engine> engine_;
    net::asio::io_context io_{1};
    net::asio::executor_work_guard<net::executor> work_;
    std::thread thread_;
};

}  // namespace gateway::model
