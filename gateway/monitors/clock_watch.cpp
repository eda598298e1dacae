#include "gateway/monitors/clock_watch.hpp"

#include <cstdint>
#include <utility>

namespace gateway::monitors {

clock_watch::clock_watch(const core::logger& log, std::function<core::wall_time()> now)
    : log_{log},
      now_{std::move(now)},
      wall_{now_()},
      steady_{std::chrono::steady_clock::now()}
{
}

void clock_watch::look(core::steady_time now)
{
    const auto wall = now_();
    const auto step = (wall - wall_) - (now - steady_);
    wall_ = wall;
    steady_ = now;
    if (step >= smallest_step || step <= -smallest_step) {
        const std::int64_t seconds = std::chrono::round<std::chrono::seconds>(step).count();
        log_.write(core::log_level::warn, "clock_stepped", {{"seconds", seconds}});
    }
}

}  // namespace gateway::monitors
