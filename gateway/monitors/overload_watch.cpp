#include "gateway/monitors/overload_watch.hpp"

#include "gateway/telemetry/metric_family.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
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

namespace {

balancing::overload_settings marks_of(const config::overload_settings& settings)
{
    balancing::overload_settings out{.lag = settings.lag};
    std::ranges::transform(settings.memory, out.memory.begin(), [](std::uint64_t percent) {
        return static_cast<unsigned>(percent);
    });
    return out;
}

std::string own_groups()
{
    std::ifstream in{"/proc/self/cgroup"};
    return {std::istreambuf_iterator<char>{in}, {}};
}

core::duration elapsed(core::steady_time since, core::steady_time now)
{
    return std::chrono::duration_cast<core::duration>(now - since);
}

}  // namespace

overload_watch::overload_watch(net::executor control, const config::overload_settings& marks, const core::logger& log)
    : log_{log},
      timer_{std::move(control)},
      clock_{log},
      meter_{marks_of(marks)},
      memory_{"/sys/fs/cgroup", own_groups()}
{
}

void overload_watch::start(std::vector<net::executor> loops)
{
    for (auto& each : loops) {
        loops_.push_back(std::make_shared<pulse>(std::move(each)));
    }
    timer_.expires_after(interval);
    wait();
}

void overload_watch::stop()
{
    stopped_ = true;
    timer_.cancel();
}

// How late the loop ran when it was asked last, or is by now; asks it again.
core::duration overload_watch::lag_of(const std::shared_ptr<pulse>& of, core::steady_time now)
{
    if (of->asked.load(std::memory_order_acquire)) {
        return elapsed(of->sent, now);
    }
    const core::steady_time::duration before{of->lag.load(std::memory_order_relaxed)};
    of->sent = now;
    of->asked.store(true, std::memory_order_relaxed);
    net::asio::post(of->on, [of, now] {
        of->lag.store((std::chrono::steady_clock::now() - now).count(), std::memory_order_relaxed);
        of->asked.store(false, std::memory_order_release);
    });
    return std::chrono::duration_cast<core::duration>(before);
}

overload_sample overload_watch::look(core::steady_time now)
{
    overload_sample out{.lag = core::duration::max(), .memory = memory_.percent()};
    for (const auto& each : loops_) {
        out.lag = std::min(out.lag, lag_of(each, now));
    }
    return out;
}

void overload_watch::turn()
{
    const auto now = std::chrono::steady_clock::now();
    clock_.look(now);
    const auto sample = source_ ? source_() : look(now);
    const auto level = meter_.sample(sample.lag, sample.memory, now);
    if (level_.exchange(level, std::memory_order_relaxed) != level) {
        log_.write(
            level == 0 ? core::log_level::info : core::log_level::warn,
            "overload_changed",
            {{"level", std::uint64_t{level}},
             {"lag", sample.lag.count()},
             {"memory", sample.memory ? std::int64_t{*sample.memory} : std::int64_t{-1}}}
        );
    }
    timer_.expires_at(std::max(timer_.expiry() + interval, now));
    wait();
}

void overload_watch::wait()
{
    timer_.async_wait([this](net::error_code cancelled) {
        if (!cancelled && !stopped_) {
            turn();
        }
    });
}

void overload_watch::collect(telemetry::metrics& into) const
{
    into.add(telemetry::metric("cardea_overload_level"), std::uint64_t{level()});
}

}  // namespace gateway::monitors
