// Work of the control loop on breakers: it logs those that open and close, has workers drop idle connections to endpoints
// whose breaker opens, and connects now and then to endpoints that could not be connected to. The control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/balancing/breaker.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/monitors/health_checker.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"
#include "net/upstream/upstream.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <memory>
#include <vector>

namespace gateway::monitors {

class breaker_watch final : public model::plane {
public:
    // References outlive the watch.
    breaker_watch(
        net::loop& control,
        const std::vector<std::unique_ptr<worker::worker>>& workers,
        const config::settings& settings,
        const core::logger& log
    );

    // Any thread; the loop lives until no thread calls this any more.
    void changed(std::shared_ptr<const model::agent_entry> agent, balancing::breaker_change how);

    health_checker& checks() noexcept { return checks_; }

    // Connects and checks no more. The loop has run to its end before this is destroyed.
    void stop() override;

private:
    struct probe {
        std::weak_ptr<balancing::breaker> breaker;  // gone with its agent
        std::shared_ptr<const net::upstream_target> target;
        std::unique_ptr<net::upstream_connection> connection{};  // while it is being made
        core::steady_time begun{};
    };

    void note(const model::agent_entry& agent, balancing::breaker_change how);
    bool go_on(probe& with, core::steady_time now);
    void look();
    void wait_for_next();

    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    net::loop& control_;
    const std::vector<std::unique_ptr<worker::worker>>& workers_;
    const config::settings& settings_;
    const core::logger& log_;
    health_checker checks_;
    timer timer_;
    net::signal unheard_;  // the timer looks instead
    std::vector<probe> probes_;
    bool stopped_ = false;
};

}  // namespace gateway::monitors
