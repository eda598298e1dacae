// The certificates of the listeners while the gateway runs: read at the start, looked at every second, and their tickets'
// keys rotated. The control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/reload/changed_files.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/types.hpp"
#include "net/tls/tls_context.hpp"
#include "net/tls/tls_tickets.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gateway::lifecycle {

// The certificates of one listener: made ready at the start, and made again when their files have changed. What cannot be
// used changes nothing: callers go on to get the certificates that are there. The control loop's thread.
class listener_tls {
public:
    // `listener` is what log lines call it. `log` outlives this.
    listener_tls(std::string listener, std::vector<net::tls_certificate> certificates, const core::logger& log);

    // Reads the files; the log warns of a certificate that ends soon. Fails with config_invalid; the detail names the file.
    core::result<> start(std::shared_ptr<net::ticket_keys> tickets);

    // Null before start(), and without certificates: the listener is plain.
    const net::tls_context& current() const noexcept { return current_; }

    // From now on callers are asked for a certificate of these authorities (PEM); empty: for none. Before start() nothing is
    // read yet. Later, true: current() is a new one. If the file cannot be used, callers are asked for none,
    // because the authorities that counted until now may not be believed any more.
    bool set_client_authorities(const std::string& ca_file);

    // Looks whether a file has changed since it was read, and reads all of them if so, or if `asked`. True: current() is a
    // new one. Otherwise, if the files were read, the log says why they cannot be used.
    bool refresh(bool asked);

    // Until when each certificate that is shown is valid, with its chain; by its file.
    const std::map<std::string, core::wall_time>& ends() const noexcept { return ends_; }

private:
    core::result<> make();
    std::vector<reload::file_stamp> stamps() const;
    void warn_of_ends(core::wall_time now) const;

    std::string listener_;
    std::vector<net::tls_certificate> certificates_;
    std::string client_ca_file_;  // empty: callers are not asked for a certificate
    const core::logger& log_;
    std::shared_ptr<net::ticket_keys> tickets_;
    net::tls_context current_;
    std::map<std::string, core::wall_time> ends_;
    std::vector<reload::file_stamp> read_;  // when the files were last read, for good or not
};

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

    // Until when the certificates of each listener are valid: its name, the file, and the end.
    std::vector<std::tuple<std::string, std::string, core::wall_time>> ends() const;

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
