#include "net/process/service_manager.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

namespace net {
namespace {

// Of a watchdog: one with a longer time hears more often than it asks, and no time that is computed from it overflows.
constexpr std::chrono::microseconds longest_watchdog = std::chrono::hours{24};

std::optional<std::int64_t> positive(const std::optional<std::string>& text)
{
    std::int64_t value = 0;
    if (!text) {
        return std::nullopt;
    }
    const auto* const last = text->data() + text->size();
    const auto [end, ec] = std::from_chars(text->data(), last, value);
    if (ec != std::errc{} || end != last || value <= 0) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

service_manager service_manager_of(const variables& environment, pid_t self)
{
    service_manager out;
    out.socket = environment("NOTIFY_SOCKET").value_or("");
    const auto watched = environment("WATCHDOG_PID");
    const auto time = positive(environment("WATCHDOG_USEC"));
    if (time && (!watched || positive(watched) == self)) {
        out.watchdog = std::min(std::chrono::microseconds{*time}, longest_watchdog);
    }
    return out;
}

std::string status_message(std::string_view status)
{
    auto text = "STATUS=" + std::string{status};
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text + '\n';
}

std::string ready_message(std::string_view status)
{
    return "READY=1\n" + status_message(status);
}

std::string reloading_message(core::steady_time now)
{
    const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
    return "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(time.count()) + '\n';
}

std::string stopping_message(std::string_view status)
{
    return "STOPPING=1\n" + status_message(status);
}

std::string main_process_message(pid_t process)
{
    return "MAINPID=" + std::to_string(process) + '\n';
}

service_notifier::service_notifier(const std::string& address)
    : socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}
{
    const bool is_abstract = address.starts_with('@');
    // A path ends with a zero byte, an abstract name with its length.
    const auto most = sizeof address_.sun_path - (is_abstract ? 0 : 1);
    if (address.size() < 2 || address.size() > most || (!is_abstract && !address.starts_with('/'))) {
        return;
    }
    address_.sun_family = AF_UNIX;
    std::copy(address.begin(), address.end(), std::begin(address_.sun_path));
    if (is_abstract) {
        address_.sun_path[0] = '\0';
    }
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
}

core::result<> service_notifier::send(std::string_view message)
{
    if (size_ == 0) {
        return core::gateway_error(
            core::errc::config_invalid,
            "NOTIFY_SOCKET: expected the path of a socket of at most 107 bytes, or @ and a name"
        );
    }
    const auto* const to = reinterpret_cast<const sockaddr*>(&address_);
    if (::sendto(socket_.number(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL, to, size_) < 0) {
        return core::gateway_error(core::errc::internal, std::generic_category().message(errno));
    }
    return {};
}

}  // namespace net
