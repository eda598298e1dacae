// Says when somebody sets the wall clock. Nothing here depends on it but what is shown or stored: timers are steady.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"

#include <chrono>
#include <functional>

namespace gateway::monitors {

class clock_watch {
public:
    static constexpr std::chrono::seconds smallest_step{1};  // less is a clock that is led to the right time

    // `log` outlives the watch.
    explicit clock_watch(
        const core::logger& log,
        std::function<core::wall_time()> now = std::chrono::system_clock::now
    );

    // To be called every now and then; one thread. A step since the last time is logged.
    void look(core::steady_time now);

private:
    const core::logger& log_;
    std::function<core::wall_time()> now_;
    core::wall_time wall_;
    core::steady_time steady_;
};

}  // namespace gateway::monitors
