// How overloaded the gateway is: looks at every worker's loop and at the control group's memory each 100 ms, and logs a level that
// changes. One worker alone that is late has been held up by something, and what the others refuse would not help it. Looks at the wall
// clock, too. On the control loop's thread; anybody may ask for the level.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/balancing/overload.hpp"
#include "gateway/model/plane.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gateway::monitors {

// Logs a step of the wall clock, on which only shown and stored times depend: timers are steady.
class clock_watch {
public:
    static constexpr std::chrono::seconds smallest_step{1};  // less is a clock that is led to the right time

    // `log` outlives the watch.
    explicit clock_watch(
        const core::logger& log,
        std::function<core::wall_time()> now = std::chrono::system_clock::now
    );

    // Called every now and then on one thread.
    void look(core::steady_time now);

private:
    const core::logger& log_;
    std::function<core::wall_time()> now_;
    core::wall_time wall_;
    core::steady_time steady_;
};

struct overload_sample {
    core::duration lag{};              // of the worker that runs least late
    std::optional<unsigned> memory{};  // percent of the limit; nothing: there is none
};

class overload_watch final : public model::plane {
public:
    static constexpr core::duration interval{100};

    // `log` outlives the watch.
    overload_watch(net::executor control, const config::overload_settings& marks, const core::logger& log);

    // Before start(): what the samples are instead.
    void set_source(std::function<overload_sample()> from) { source_ = std::move(from); }

    // Looks at these loops, of which there is at least one. They live until stop().
    void start(std::vector<net::executor> loops);
    void stop() override;

    // Any thread.
    const std::atomic<balancing::overload_level>& level() const noexcept { return level_; }
    void collect(telemetry::metrics& into) const override;

private:
    // A question to a loop, now and then: when does it run?
    struct pulse {
        explicit pulse(net::executor asked)
            : on{std::move(asked)}
        {
        }
        net::executor on;
        core::steady_time sent{};                    // the latest question; the control loop's
        std::atomic<core::steady_time::rep> lag{0};  // of the latest answer
        std::atomic<bool> asked{false};              // without an answer
    };

    core::duration lag_of(const std::shared_ptr<pulse>& of, core::steady_time now);
    overload_sample look(core::steady_time now);
    void turn();
    void wait();

    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    const core::logger& log_;
    timer timer_;
    clock_watch clock_;
    balancing::overload_meter meter_;
    balancing::cgroup_memory memory_;
    std::function<overload_sample()> source_;  // empty: look()
    std::vector<std::shared_ptr<pulse>> loops_;
    std::atomic<balancing::overload_level> level_{0};
    bool stopped_ = false;
};

}  // namespace gateway::monitors
