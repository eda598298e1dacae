// The whole gateway in this process, on ports of the system's choice, with its log lines kept. Ends in order when it is
// destroyed.
#pragma once

#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/log.hpp"
#include "gateway/telemetry/live_log.hpp"
#include "net/loop/dns_cache.hpp"
#include "tests/support/script.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace gateway::wiring {
class server;
}

namespace store {
class engine;
}

namespace flow {

class kept_lines final : public core::log_sink {
public:
    void write(std::string_view lines) override;

    std::vector<std::string> all() const;

    // The first line that satisfies the predicate, waited for; nothing if none came in time.
    std::optional<std::string> wait_for(
        const std::function<bool(std::string_view line)>& wanted,
        std::chrono::milliseconds timeout = test_support::patience
    ) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<std::string> lines_;
};

core::agent a2a_agent(std::string id, std::string url);

// Short timeouts, one worker, no agents, breakers that do not open; ports 0.
config::settings quick_settings();

class running_gateway {
public:
    // `lookup`: of agents' names; without it the system's. `lag`: how late its loops run, instead of what it finds itself; empty: not at
    // all.
    explicit running_gateway(
        config::settings settings,
        net::name_lookup lookup = {},
        std::function<std::chrono::milliseconds()> lag = {}
    );

    // With this store instead of the one that the settings name.
    running_gateway(config::settings settings, std::unique_ptr<store::engine> records);

    ~running_gateway();  // stops and waits
    running_gateway(const running_gateway&) = delete;
    running_gateway& operator=(const running_gateway&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    std::uint16_t admin_port() const noexcept { return admin_port_; }
    std::uint16_t metrics_port() const noexcept { return metrics_port_; }  // 0: there is none
    std::string base() const { return "http://127.0.0.1:" + std::to_string(port_); }

    const kept_lines& log() const noexcept { return lines_; }

    // CPU time that the thread of the control loop has used.
    std::chrono::nanoseconds control_cpu_time();

    // Begins the graceful shutdown; a second call makes it abrupt.
    void stop();
    // Whether run() has returned in time.
    bool wait_until_stopped(std::chrono::milliseconds timeout = test_support::patience);

    // The value of a series of /metrics, such as `cardea_streams_active{agent="a"}`; nothing if there is none.
    std::optional<double> metric(std::string_view series) const;
    // Polls /metrics until the series has the value. What workers count is summed when asked, so this needs no pause.
    bool wait_for_metric(std::string_view series, double value) const;

private:
    void start(
        config::settings settings,
        std::unique_ptr<store::engine> records,
        net::name_lookup lookup,
        std::function<std::chrono::milliseconds()> lag
    );

    kept_lines lines_;
    gateway::telemetry::live_log live_{lines_, 1};
    core::logger logger_;
    std::unique_ptr<gateway::wiring::server> server_;
    std::uint16_t port_ = 0;
    std::uint16_t admin_port_ = 0;
    std::uint16_t metrics_port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    std::thread thread_;
};

}  // namespace flow
