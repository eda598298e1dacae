// The certificates of the listeners while the gateway runs: read at the start, looked at every second, and their tickets'
// keys rotated. The control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/lifecycle/listener_tls.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/types.hpp"
#include "net/tls/tls_context.hpp"
#include "net/tls/tls_tickets.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gateway::lifecycle {

class certificate_watch {
public:
    // `log` outlives this.
    certificate_watch(net::executor control, const config::process_settings& settings, const core::logger& log);

    // Before start(): the ticket keys of the process whose place this one takes, as tickets() gave them there.
    void set_tickets(std::string passed) { passed_ = std::move(passed); }

    // Empty: there are no certificates.
    std::string tickets() const;

    using receiver = std::function<void(const net::tls_context& certificates)>;

    struct receivers {
        receiver traffic;
        receiver admin;
        receiver metrics;
    };

    // Passes each listener's certificates to its receiver, now and whenever they change. Without any certificates none is
    // called. Fails with config_invalid; the detail names the file.
    core::result<> start(receivers to);

    // Whose certificates callers of the traffic listener may show (PEM); empty: they are not asked for one. Without
    // certificates of its own the listener asks nobody.
    void set_client_authorities(const std::string& ca_file);

    // Reads the files that have changed, or all of them if `asked`.
    void refresh(bool asked);

    // Until when the certificates of each listener are valid.
    // Adds the families that this class counts to the page of metrics.
    void collect(telemetry::metrics& into) const;

    // Looks no more. The loop has run to its end before this is destroyed.
    void stop();

private:
    struct watched {
        std::string name;
        listener_tls tls;
        receiver to{};
    };

    void wait();

    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    timer timer_;
    bool stopped_ = false;
    bool configured_;
    std::string passed_;  // until start()
    std::shared_ptr<net::ticket_keys> tickets_;
    watched traffic_;
    watched admin_;
    watched metrics_;
};

}  // namespace gateway::lifecycle
