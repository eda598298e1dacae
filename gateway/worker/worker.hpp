// One worker: a thread with its own loop, callers' connections, pool of connections to agents, counters and access log.
// The control loop reaches it by post().
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/request/tracer.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "gateway/worker/traffic_handler.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/http_service.hpp"
#include "net/upstream/upstream_pool.hpp"

#include <boost/asio/post.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>

namespace gateway::worker {

// What all connections of the process share, on whatever loop.
struct shared_limits {
    explicit shared_limits(const config::settings& settings)
        : bodies{settings.limits.body_memory},
          operator_bodies{settings.limits.body_memory},
          lingering{settings.limits.lingering},
          names{std::make_shared<net::dns_cache>(
              net::name_settings{settings.timeouts.dns, settings.dns.refresh, settings.dns.stale}
          )}
    {
    }

    net::shared_budget bodies;
    net::shared_budget operator_bodies;  // on the admin listener: callers cannot use it up
    net::shared_budget lingering;
    std::shared_ptr<net::dns_cache> names;
};

net::server_settings connection_settings(const config::settings& settings, shared_limits& shared);

class worker {
public:
    // References outlive the worker.
    worker(
        model::control_services& control,
        const config::settings& settings,
        shared_limits& shared,
        const core::logger& log
    );

    // Joins the thread; stop() must have been called if start() was.
    ~worker();

    void start();

    // For placement of new connections; any thread may ask it how many are open.
    net::http_service& service() noexcept { return service_; }

    // Runs `what(worker&)` on the worker's thread. From any thread.
    template <class Function>
    void post(Function what)
    {
        net::asio::post(executor(), [this, what = std::move(what)]() mutable { what(*this); });
    }

    // The rest of what a posted function may use, on the worker's thread.
    traffic_handler& handler() noexcept { return traffic_; }
    telemetry::access_log& lines() noexcept { return lines_; }
    net::upstream_pool& pool() noexcept { return pool_; }
    telemetry::worker_metrics& metrics() noexcept { return traffic_.metrics(); }
    const telemetry::http2_counters& http2() const noexcept { return http2_; }
    std::size_t idle_upstream_connections() const { return pool_.idle(); }
    void hand_over() { traffic_.hand_over(loop_.now()); }
    void announce_end();  // of connections and streams
    void drain();
    void end_streams();
    void abort();
    void stop();

    net::executor executor() noexcept { return loop_.get_executor(); }

    // Any thread.
    const net::heartbeat& pulse() noexcept { return loop_.timers().pulse(); }

private:
    class flusher final : public net::timed {
    public:
        flusher(telemetry::access_log& lines, traffic_handler& traffic)
            : lines_{lines},
              traffic_{traffic}
        {
        }
        void on_due() override {}
        void on_sweep(core::steady_time now) override
        {
            lines_.flush();
            traffic_.hand_over(now);
        }

    private:
        telemetry::access_log& lines_;
        traffic_handler& traffic_;
    };

    telemetry::http2_counters http2_;
    net::loop loop_;
    telemetry::access_log lines_;
    net::upstream_pool pool_;
    traffic_handler traffic_;
    net::http_service service_;
    flusher flusher_;
    std::thread thread_;
};

using worker_list = std::span<const std::unique_ptr<worker>>;

// Callers' connections that are open. Any thread.
std::size_t open_connections(worker_list workers) noexcept;

}  // namespace gateway::worker
