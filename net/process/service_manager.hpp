// What a process tells the service manager that started it, such as systemd: datagrams to the socket that NOTIFY_SOCKET names
// (sd_notify(3), sd_watchdog_enabled(3)), without a library. Linux.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "net/process/inherited_descriptors.hpp"

#include <sys/un.h>

#include <chrono>
#include <string>
#include <string_view>

namespace net {

// What the environment says of it.
struct service_manager {
    std::string socket;                     // NOTIFY_SOCKET; empty: nobody listens
    std::chrono::microseconds watchdog{0};  // it ends a process that says nothing for as long; 0: it does not

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
