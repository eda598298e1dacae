// The protocols of a service manager, such as systemd, without a library. The process receives sockets that LISTEN_PID, LISTEN_FDS and
// LISTEN_FDNAMES describe, which begin at 3 (sd_listen_fds(3)), and sends datagrams to the socket that NOTIFY_SOCKET names (sd_notify(3),
// sd_watchdog_enabled(3)). Linux.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "net/loop/types.hpp"

#include <sys/types.h>
#include <sys/un.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net {

// The value of a variable of the environment; nothing: it is not set.
using variables = std::function<std::optional<std::string>(std::string_view name)>;

struct inherited_descriptor {
    int number = -1;
    std::string name;

    friend bool operator==(const inherited_descriptor&, const inherited_descriptor&) = default;
};

// The descriptors that were passed to the process `self`; none also if they were passed to another process. Fails with config_invalid:
// LISTEN_FDS is not a number up to 1024, or there are not as many names. Pure.
core::result<std::vector<inherited_descriptor>> inherited_descriptors(const variables& environment, pid_t self);

// A socket that listens already; another process may have it, too.
struct inherited_socket {
    core::descriptor socket;
    tcp::endpoint local;
};

// Takes one of them; programs that this process starts do not get it. Fails with config_invalid, and leaves the descriptor as it is, if it
// is not open or not a listening TCP socket.
core::result<inherited_socket> take_listening_socket(const inherited_descriptor& from);

// Takes one end of a socket pair. Fails with config_invalid: it is not a connected Unix-domain stream.
core::result<core::descriptor> take_socket_pair(const inherited_descriptor& from);

// The service manager as the environment describes it.
struct service_manager {
    std::string socket;                     // NOTIFY_SOCKET; empty: nobody listens
    std::chrono::microseconds watchdog{0};  // it ends a process that is silent for as long; 0: it does not

    friend bool operator==(const service_manager&, const service_manager&) = default;
};

// The watchdog is for this process if WATCHDOG_PID is `self` or is absent. A WATCHDOG_USEC that is not a positive number is ignored;
// the largest that is used is a day. Pure.
service_manager service_manager_of(const variables& environment, pid_t self);

// Messages. `status` is one sentence for people; its line breaks become spaces. `now` is what CLOCK_MONOTONIC says. Pure.
std::string ready_message(std::string_view status);
std::string reloading_message(core::steady_time now);
std::string stopping_message(std::string_view status);
std::string status_message(std::string_view status);
std::string main_process_message(pid_t process);
inline constexpr std::string_view watchdog_message = "WATCHDOG=1\n";

// Sends them. One thread at a time; never blocks.
class service_notifier {
public:
    // `address`: the path of a socket, or '@' and an abstract name.
    explicit service_notifier(const std::string& address);

    // Fails with config_invalid: no such address can be; with internal: nobody takes the message now. The detail says why.
    core::result<> send(std::string_view message);

private:
    core::descriptor socket_;
    sockaddr_un address_{};
    socklen_t size_ = 0;  // of address_; 0: the name does not fit one
};

}  // namespace net
