// The whole gateway: control loop, workers, listeners, and their common end. Made once, run on the calling thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/secret.hpp"
#include "gateway/access/chain_limits.hpp"
#include "gateway/access/credential_verifier.hpp"
#include "gateway/access/server_metadata.hpp"
#include "gateway/admin/admin_handler.hpp"
#include "gateway/admin/status_pages.hpp"
#include "gateway/bridge/bridge_plane.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/cards/card_thread.hpp"
#include "gateway/console/events.hpp"
#include "gateway/lifecycle/graceful_shutdown.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/lifecycle/service_reports.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/directory.hpp"
#include "gateway/management/management.hpp"
#include "gateway/management/pin_book.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/monitors/breaker_watch.hpp"
#include "gateway/monitors/overload_watch.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/reload/reload.hpp"
#include "gateway/replicas/replica_plane.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/telemetry/live_log.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "gateway/threads/store_thread.hpp"
#include "gateway/tokens/token_plane.hpp"
#include "gateway/upgrade/handover.hpp"
#include "gateway/wiring/agent_bundles.hpp"
#include "gateway/wiring/auditor.hpp"
#include "gateway/wiring/caller_sessions.hpp"
#include "gateway/wiring/replication.hpp"
#include "gateway/wiring/task_keeper.hpp"
#include "gateway/wiring/tracing.hpp"
#include "gateway/wiring/worker_settings.hpp"
#include "gateway/worker/worker.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_signal_set.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::wiring {

// The log, as far as the server counts and shows it and a reload changes it. The functions may be null; on the control loop's thread.
struct log_hooks {
    telemetry::live_log& live;                                                    // stands in front of where lines end
    std::function<std::uint64_t()> dropped;                                       // lines that were lost
    std::function<void(core::log_level level, core::log_format format)> changed;  // by a reload
};

class server {
public:
    // `log` and its sink outlive the server.
    server(config::settings settings, std::unique_ptr<store::engine> records, const core::logger& log, log_hooks hooks);
    ~server();

    // Before start(): where a reload reads the new configuration. Without it there is nothing to reload.
    void set_configuration_source(reload::configuration_source from) { from_ = std::move(from); }

    // Before start(): what the service manager passed and what it wants to hear. `settings` have the sockets' addresses. Without it
    // every address is bound here, and no service manager hears of it.
    void set_service(lifecycle::inherited_listeners sockets, const net::service_manager& manager);

    // Before start(): how this process was started, for a hand-over. Without it each is refused.
    void set_handover(upgrade::handover_source from) { upgrade_.set_source(std::move(from)); }

    // Before start(): the process whose place this one takes, which outlives the server, and what it passed. Null: there is none.
    void set_old_process(upgrade::old_process* from, upgrade::upgrade_state passed);
    // Before run(): how overloaded the gateway is, instead of what it finds itself.
    void set_overload_source(std::function<monitors::overload_sample()> from) { overload_.set_source(std::move(from)); }

    // Binds its addresses and makes everything ready; nothing is served before run(). Fails with config_invalid: an
    // address that cannot be bound, an agent's URL or trust store that cannot be used.
    core::result<> start();

    // The addresses that were bound, with the ports that the system chose for port 0.
    const lifecycle::listeners& addresses() const noexcept { return listeners_; }
    net::dns_cache& names() noexcept { return *shared_.names; }

    // From now on SIGTERM and SIGINT are stop(), also those that come before run(); SIGHUP reads the certificates
    // and the configuration again; SIGUSR2 is a hand-over.
    void handle_signals();

    // Serves until stop(). From then on answers end their connections; after timeouts.drain_delay no connection is accepted. Calls
    // in flight finish within timeouts.drain and streams within timeouts.drain_streams, counted from stop().
    void run();

    // Any thread; the first call begins the graceful shutdown, a second one makes it abrupt.
    void stop();

private:
    std::unique_ptr<admin::metrics_feed> metrics();
    management::process_facts facts() const;
    void collect(telemetry::metrics& into) const;

    void make_management();
    core::result<> load_kept();
    net::task<bool> is_ready() const;
    void make_services();
    void make_admin();
    void serve_within(net::accepted_socket from, const net::loop* home);
    void make_bridge();
    replication_parts replication();
    void list_planes();
    void apply_settings(const model::changed_settings& changed);
    void start_reloads();
    core::result<> open_listeners();
    void wait_for_signal();
    void make_end();
    void begin_end();
    void begin_reports();

    config::settings settings_;
    std::string public_base_;  // since start()
    worker::shared_limits shared_{settings_};
    access::chain_limits chains_{settings_.chains};
    const core::logger& log_;
    log_hooks log_hooks_;
    core::wall_time started_;
    net::loop control_{shared_.names};
    threads::turn_lines turns_;  // of the control loop
    monitors::breaker_watch breakers_;
    tracing traces_;
    monitors::overload_watch overload_;
    auditor audit_;
    console::event_feed events_;
    threads::store_thread store_;
    core::secret session_key_;  // of a configuration without one; since start()
    std::unique_ptr<task_keeper> tasks_;
    std::unique_ptr<net::curl_fetcher> fetcher_;
    std::unique_ptr<access::server_metadata> metadata_;
    std::unique_ptr<cards::card_thread> card_thread_;
    std::unique_ptr<cards::card_source> source_;
    std::unique_ptr<cards::card_store> keeper_;
    std::unique_ptr<cards::card_history> card_history_;
    std::unique_ptr<cards::card_plane> cards_;
    threads::side_thread long_bodies_;
    std::unique_ptr<sessions::session_plane> sessions_;
    model::inner_callers inner_;
    std::unique_ptr<model::inner_calls> inner_calls_;
    std::unique_ptr<bridge::bridge_plane> bridge_;
    std::unique_ptr<wiring::caller_sessions> callers_;
    std::unique_ptr<agent_bundles> bundles_;
    std::unique_ptr<management::registry> registry_;
    std::unique_ptr<management::pin_book> pins_;
    std::unique_ptr<tokens::token_plane> agent_tokens_;
    std::unique_ptr<push::push_plane> push_;
    std::unique_ptr<worker_settings> worker_settings_;
    std::unique_ptr<access_publication> access_;
    threads::side_thread key_set_thread_;
    std::unique_ptr<access::credential_verifier> credentials_;
    std::unique_ptr<management::containment_table> containments_;
    std::unique_ptr<management::management> management_;
    std::unique_ptr<management::directory> directory_;
    reload::configuration_source from_;
    std::unique_ptr<reload::reloader> reloader_;
    std::unique_ptr<model::control_services> services_;
    std::unique_ptr<replicas::replica_plane> replicas_;  // null: the store is not shared
    telemetry::histogram store_times_;                   // of writes
    const admin::status_services status_;
    std::unique_ptr<admin::admin_handler> admin_;
    admin::scrape_handler scrapers_;
    std::vector<std::unique_ptr<worker::worker>> workers_;
    std::vector<model::plane*> planes_;         // since start(); each after those that it uses
    lifecycle::inherited_listeners inherited_;  // until start()
    lifecycle::listeners listeners_;
    lifecycle::service_reports reports_;
    upgrade::process_upgrade upgrade_;
    net::asio::basic_signal_set<net::executor> signals_;
    std::unique_ptr<lifecycle::graceful_shutdown> end_;
    bool serves_ = false;
};

}  // namespace gateway::wiring
