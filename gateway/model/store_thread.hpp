// The store on a thread of its own: the control loop asks and goes on; what it asked is carried out in that order.
#pragma once

#include "gateway/model/side_thread.hpp"
#include "store/engine.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace gateway::model {

class store_thread {
public:
    explicit store_thread(std::unique_ptr<store::engine> engine)
        : engine_{std::move(engine)}
    {
    }

    bool durable() const noexcept { return engine_->durable(); }

    // The engine itself, for as long as nothing has been asked yet: at the start.
    store::engine& engine() noexcept { return *engine_; }

    // As side_thread::ask() does.
    template <class T>
    net::task<T> ask(std::function<T(store::engine&)> question)
    {
        return thread_.ask<T>([this, question = std::move(question)] { return question(*engine_); });
    }

private:
    std::unique_ptr<store::engine> engine_;
    side_thread thread_;  // last: what it still does uses the engine
};

}  // namespace gateway::model
