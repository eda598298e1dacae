// The store on a thread of its own: the control loop asks and goes on; what it asked is carried out in that order.
#pragma once

#include "gateway/model/side_thread.hpp"
#include "store/engine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace gateway::model {

// How many writes the store has carried out, and how many it could not. A write that was refused for what is there is neither.
struct store_writes {
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;  // store_failed
    std::uint64_t full = 0;    // store_full
};

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

    // To be called with the outcome of each write, on the thread that asks.
    template <class T>
    void note_write(const core::result<T>& outcome) noexcept
    {
        if (outcome) {
            ++writes_.ok;
        } else if (outcome.error().code == core::errc::store_failed) {
            ++writes_.failed;
        } else if (outcome.error().code == core::errc::store_full) {
            ++writes_.full;
        }
    }
    const store_writes& writes() const noexcept { return writes_; }

private:
    std::unique_ptr<store::engine> engine_;
    store_writes writes_;
    side_thread thread_;  // last: what it still does uses the engine
};

}  // namespace gateway::model
