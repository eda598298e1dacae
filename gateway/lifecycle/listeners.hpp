// The addresses that the gateway listens on: for callers, for operators, and with `metrics` for scraping; and their
// certificates. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/lifecycle/certificate_watch.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"
#include "net/process/service_manager.hpp"
#include "net/server/http_service.hpp"
#include "net/server/listener.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::lifecycle {

// The sockets that the service manager opened for listeners, by their names: traffic, admin, metrics; and the socket pair of the
// gateway that hands over to this one: handover.

// Nothing: the gateway binds this listener's address itself.
struct inherited_listeners {
    std::optional<net::inherited_socket> traffic;
    std::optional<net::inherited_socket> admin;
    std::optional<net::inherited_socket> metrics;
    core::descriptor handover;  // not open: this process takes nobody's place

    // Where these sockets are, whatever the configuration says.
    reload::inherited_addresses addresses() const;

    // Closes those whose address in the configuration is not what it was when they were opened: `now` and `before`. One that is not
    // in `before` was passed by the service manager, and stays. True: one was closed.
    bool keep_unchanged(const reload::inherited_addresses& now, const reload::inherited_addresses& before);
};

// Fails with config_invalid: another name, a name twice, or as net::take_listening_socket() does.
core::result<inherited_listeners> take_inherited_listeners(const std::vector<net::inherited_descriptor>& passed);

class listeners final : public model::plane {
public:
    // References outlive this.
    listeners(
        net::loop& control,
        const config::settings& settings,
        worker::shared_limits& shared,
        const core::logger& log
    );

    // Binds every address for which `inherited` has no socket; nothing is served before start(). `traffic` has one service for each
    // worker; all other references outlive this. Fails with config_invalid: an address that cannot be bound.
    core::result<> open(
        std::vector<net::http_service*> traffic,
        net::http_handler& operators,
        net::http_handler& scrapers,
        inherited_listeners inherited
    );

    // Reads the certificates; those for callers go to `traffic`. Fails with config_invalid.
    core::result<> start_tls(certificate_watch::receiver traffic);

    certificate_watch& certificates() noexcept { return certificates_; }
    const certificate_watch& certificates() const noexcept { return certificates_; }

    void start();

    // The sockets that listen, by the names of inherited_listeners, for a process that is to listen too.
    std::vector<std::pair<std::string, int>> sockets();

    // The sockets once more, for another owner in this process: they go on listening when these here are closed.
    inherited_listeners share();

    // Accepts nobody any more: who waits is left to the sockets' other owner.
    void close();

    // Takes the callers who wait, and nobody after them. The other listeners stay.
    void end_traffic();

    // Ends the other listeners in this way; their connections end when they are idle.
    void end_operators();

    // Ends the others, and cuts their connections. busy() until these are gone.
    void end();
    bool busy() const noexcept override;

    void apply(const config::settings& now, const model::changed_settings& changed) override;

    std::string traffic_address() const { return net::to_text(traffic_->local()); }
    std::string admin_address() const { return net::to_text(admin_->local()); }

    // Empty: there is none.
    std::string metrics_address() const { return metrics_ ? net::to_text(metrics_->local()) : std::string{}; }

    void collect(telemetry::metrics& into) const override;

private:
    net::loop& control_;
    const config::settings& settings_;
    worker::shared_limits& shared_;
    const core::logger& log_;
    certificate_watch certificates_;
    std::unique_ptr<net::http_service> admin_service_;
    std::unique_ptr<net::http_service> metrics_service_;  // null: no such listener
    std::unique_ptr<net::listener> traffic_;
    std::unique_ptr<net::listener> admin_;
    std::unique_ptr<net::listener> metrics_;  // null: there is none
};

}  // namespace gateway::lifecycle
