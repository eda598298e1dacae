// One worker: a thread with its own loop, callers' connections, pool of connections to agents, counters and access log.
// The control loop talks to it by posting.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/request/tracer.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "gateway/worker/traffic_handler.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/http_service.hpp"
#include "net/upstream/upstream.hpp"

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace gateway::worker {

// What all connections of the process share, on whatever loop.
struct shared_limits {
    explicit shared_limits(const config::settings& settings)
        : bodies{settings.limits.body_memory},
          operator_bodies{settings.limits.body_memory},
          lingering{settings.limits.lingering},
          names{std::make_shared<net::name_book>(
              net::name_settings{settings.timeouts.dns, settings.dns.refresh, settings.dns.stale}
          )}
    {
    }

    net::shared_budget bodies;
    net::shared_budget operator_bodies;  // on the admin listener: callers cannot use it up
    net::shared_budget lingering;
    std::shared_ptr<net::name_book> names;
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

    // From any thread; carried out on the worker's.
    void publish(std::shared_ptr<const model::snapshot> snapshot);
    void publish_agent(std::string id, std::shared_ptr<const model::agent_entry> agent);  // null: it is gone
    void set_tls(net::tls_context tls);  // for connections that come from now on; null: none
    void publish_card(std::string agent_id, std::shared_ptr<const model::published_card> card);
    void set_access(access::access_plans plans);
    void set_rate_limits(std::shared_ptr<access::rate_limiter> limits);               // null: nothing is limited
    void set_log_level(core::log_level level);                                        // of access lines
    void set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids);              // before the first request
    void set_push_addresses(std::shared_ptr<const model::push_addresses> addresses);  // the same
    void set_trace_plan(const request::trace_plan& plan);  // traffic_handler::set_trace_plan()
    void hand_over(std::function<void()> then);            // traffic_handler::hand_over(), then that, there
    void ask_about(::mcp::session_digest id, bool ask);    // traffic_handler::ask_about()
    void drop_idle(std::shared_ptr<const net::upstream_target> endpoint);  // net::upstream_pool::drop_idle()
    void announce_end();  // net::http_service, agent_relay: announce_end()
    void drain();         // net::http_service::drain(), agent_relay::end_listening()
    void end_streams();   // agent_relay::end_streams()
    void abort();
    void stop();

    // On the worker's thread.
    telemetry::worker_metrics& metrics() noexcept { return traffic_.metrics(); }
    std::size_t idle_upstream_connections() const { return pool_.idle(); }

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

    net::loop loop_;
    telemetry::access_log lines_;
    net::upstream_pool pool_;
    traffic_handler traffic_;
    net::http_service service_;
    flusher flusher_;
    std::thread thread_;
};

}  // namespace gateway::worker
