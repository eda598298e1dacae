// The certificates of one listener: made ready at the start, and made anew when their files have changed. What cannot be
// used changes nothing: callers go on to get the certificates that are there. The control loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "net/tls_context.hpp"
#include "net/tls_tickets.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gateway {

class listener_tls {
public:
    // `listener` is what log lines call it. `log` outlives this.
    listener_tls(std::string listener, std::vector<net::tls_certificate> certificates, const core::logger& log);

    // Reads the files; the log warns of a certificate that ends soon. Fails with config_invalid; the detail names the file.
    core::result<> start(std::shared_ptr<net::ticket_keys> tickets);

    // Null before start(), and without certificates: the listener is plain.
    const net::tls_context& current() const noexcept { return current_; }

    // Looks whether a file has changed since it was read, and reads all of them if so, or if `asked`. True: current() is a
    // new one. Otherwise, if the files were read, the log says why they cannot be used.
    bool refresh(bool asked);

private:
    // Of each file, what changes when it is written, replaced, or reached through another link.
    struct stamp {
        std::uint64_t device = 0;
        std::uint64_t number = 0;
        std::int64_t size = -1;  // there is none
        std::int64_t seconds = 0;
        std::int64_t nanoseconds = 0;

        friend bool operator==(const stamp&, const stamp&) = default;
    };

    static stamp stamp_of(const std::string& path);
    std::vector<stamp> stamps() const;
    void warn_of_ends(core::wall_time now) const;

    std::string listener_;
    std::vector<net::tls_certificate> certificates_;
    const core::logger& log_;
    std::shared_ptr<net::ticket_keys> tickets_;
    net::tls_context current_;
    std::vector<stamp> read_;  // when the files were last read, for good or not
};

}  // namespace gateway
