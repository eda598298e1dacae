// Tasks of the control side that wait for the same event, such as the end of work that is done once for all of them. One thread.
#pragma once

#include "net/loop/signal.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace net {

class waiting_tasks {
public:
    waiting_tasks() = default;
    waiting_tasks(const waiting_tasks&) = delete;
    waiting_tasks& operator=(const waiting_tasks&) = delete;

    // Returns at the next wake(), which this has to outlive only until then.
    task<> wait()
    {
        task_signal woken;
        auto waits = woken.wait();
        waiting_.push_back(&woken);
        co_await std::move(waits);
    }

    // The tasks go on inside this call, each once: one that waits again does so until the next call.
    void wake()
    {
        for (auto* const each : std::exchange(waiting_, {})) {
            each->set();
        }
    }

    std::size_t size() const noexcept { return waiting_.size(); }

private:
    std::vector<task_signal*> waiting_;
};

}  // namespace net
