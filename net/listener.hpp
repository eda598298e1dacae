// Accepts connections on one address and places each on the service with the fewest open ones. A full descriptor table
// or a peer that left in the queue is no reason to stop: accepting goes on after a pause. One loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "net/http_service.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <string>
#include <vector>

namespace net {

class listener {
public:
    // The services outlive the listener; there is at least one.
    listener(loop& owner, std::vector<http_service*> services, const core::logger& log);

    // Fails with config_invalid: the name does not resolve, the address is in use or not permitted.
    core::result<> open(const std::string& host, std::uint16_t port);

    // The address that was bound, with the port that the system chose for port 0.
    tcp::endpoint local() const { return local_; }

    void start();
    void close();

private:
    void wait();
    void accept_all();
    void place(accepted_socket from);
    void pause(const error_code& why);

    loop& loop_;
    std::vector<http_service*> services_;
    const core::logger& log_;
    asio::basic_socket_acceptor<tcp, executor> acceptor_;
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>
        pause_;
    tcp::endpoint local_;
    bool failing_ = false;
};

// "127.0.0.1:4000", "[::1]:4000".
std::string to_text(const tcp::endpoint& address);

}  // namespace net
