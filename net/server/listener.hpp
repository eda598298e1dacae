// Accepts connections on one address and places each on the service with the fewest open ones. A full descriptor table
// or a peer that left in the queue is no reason to stop: accepting goes on after a pause. One loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "net/server/http_service.hpp"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace net {

struct listener_limits {
    std::size_t connections = std::numeric_limits<std::size_t>::max();  // open at a time
    bool may_use_reserve = true;                                        // of descriptors
    std::string refusal{};  // what a connection beyond is told before it is closed; may be empty
};

class listener {
public:
    // The services outlive the listener; there is at least one.
    listener(loop& owner, std::vector<http_service*> services, const core::logger& log);
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    // Fails with config_invalid: the name does not resolve, the address is in use or not permitted.
    core::result<> open(const std::string& host, std::uint16_t port);

    // Opens a socket that listens already, at `local`, and that another process may have too: closing it here leaves it
    // listening there. Fails with config_invalid: the system refuses one of its options.
    core::result<> open(core::descriptor socket, const tcp::endpoint& local);

    // The address that was bound, with the port that the system chose for port 0.
    tcp::endpoint local() const { return local_; }

    // The socket, for a process that is to listen too; -1: it is not open.
    int socket() { return acceptor_.is_open() ? acceptor_.native_handle() : -1; }

    void set_limits(listener_limits limits) { limits_ = std::move(limits); }

    void start();
    void close();

    // Takes everybody whose connection stands already: closing the listener would reset them.
    void accept_waiting();

    // Connections that were refused for want of room.
    std::uint64_t refused() const noexcept { return refused_; }

private:
    error_code prepare();
    void wait();
    void accept_all();
    bool accept(int most);
    bool has_room_for(const core::descriptor& socket) const noexcept;
    void place(accepted_socket from);
    void refuse(core::descriptor socket);
    void pause(const error_code& why);

    loop& loop_;
    std::vector<http_service*> services_;
    const core::logger& log_;
    asio::basic_socket_acceptor<tcp, executor> acceptor_;
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>
        pause_;
    tcp::endpoint local_;
    listener_limits limits_;
    std::uint64_t refused_ = 0;
    std::chrono::steady_clock::time_point refusal_said_{};
    bool failing_ = false;
};

// "127.0.0.1:4000", "[::1]:4000".
std::string to_text(const tcp::endpoint& address);

}  // namespace net
