#include "net/process/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace net {
namespace {

constexpr int first_descriptor = 3;
constexpr int most_descriptors = 1024;

core::error unusable(std::string what)
{
    return core::gateway_error(core::errc::config_invalid, std::move(what));
}

template <class Number>
std::optional<Number> number_of(std::string_view text)
{
    Number value{};
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::vector<std::string> names_in(const std::optional<std::string>& list)
{
    std::vector<std::string> names;
    if (!list) {
        return names;
    }
    std::string_view rest = *list;
    for (auto end = rest.find(':'); end != std::string_view::npos; end = rest.find(':')) {
        names.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    names.emplace_back(rest);
    return names;
}

std::optional<int> option_of(int socket, int name)
{
    int value = 0;
    socklen_t size = sizeof value;
    if (::getsockopt(socket, SOL_SOCKET, name, &value, &size) != 0) {
        return std::nullopt;
    }
    return value;
}

// Says what is wrong with a descriptor, as a predicate; empty: it is a listening TCP socket.
std::string_view fault_of(int number)
{
    if (::fcntl(number, F_GETFD) < 0) {
        return "is not open";
    }
    const auto family = option_of(number, SO_DOMAIN);
    if (!family) {
        return "is not a socket";
    }
    if (*family == AF_UNIX) {
        return "is a Unix-domain socket";
    }
    if ((*family != AF_INET && *family != AF_INET6) || option_of(number, SO_TYPE) != SOCK_STREAM) {
        return "is not a TCP socket";
    }
    return option_of(number, SO_ACCEPTCONN) == 1 ? "" : "does not listen";
}

// A watchdog with a longer time hears more often than it asks, and no time that is computed from it overflows.
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

core::result<std::vector<inherited_descriptor>> inherited_descriptors(const variables& environment, pid_t self)
{
    std::vector<inherited_descriptor> all;
    const auto receiver = environment("LISTEN_PID");
    const auto written = environment("LISTEN_FDS");
    if (!receiver || !written || number_of<pid_t>(*receiver) != self) {
        return all;
    }
    const auto count = number_of<int>(*written);
    if (!count || *count < 0 || *count > most_descriptors) {
        return unusable("LISTEN_FDS: expected a number of sockets, 0 to 1024, got '" + *written + "'");
    }
    auto names = names_in(environment("LISTEN_FDNAMES"));
    if (*count > 0 && names.size() != static_cast<std::size_t>(*count)) {
        return unusable(
            "LISTEN_FDNAMES: expected a name for each of the sockets of LISTEN_FDS (" + std::to_string(*count) +
            "), got " + std::to_string(names.size())
        );
    }
    for (int i = 0; i < *count; ++i) {
        all.push_back({first_descriptor + i, std::move(names[static_cast<std::size_t>(i)])});
    }
    return all;
}

core::result<inherited_socket> take_listening_socket(const inherited_descriptor& from)
{
    const auto refuse = [&](std::string_view why) {
        return unusable(
            "inherited socket " + from.name + ": descriptor " + std::to_string(from.number) + ' ' + std::string{why} +
            "; expected a TCP socket that listens"
        );
    };
    if (const auto fault = fault_of(from.number); !fault.empty()) {
        return refuse(fault);
    }
    tcp::endpoint local;
    auto size = static_cast<socklen_t>(local.capacity());
    if (::getsockname(from.number, local.data(), &size) != 0) {
        return refuse("has no address");
    }
    local.resize(size);
    if (::fcntl(from.number, F_SETFD, FD_CLOEXEC) != 0) {
        return refuse("cannot be kept from other programs");
    }
    return inherited_socket{core::descriptor{from.number}, local};
}

core::result<core::descriptor> take_socket_pair(const inherited_descriptor& from)
{
    const bool fits = ::fcntl(from.number, F_GETFD) >= 0 && option_of(from.number, SO_DOMAIN) == AF_UNIX &&
                      option_of(from.number, SO_TYPE) == SOCK_STREAM && option_of(from.number, SO_ACCEPTCONN) == 0;
    if (!fits || ::fcntl(from.number, F_SETFD, FD_CLOEXEC) != 0) {
        return unusable(
            "inherited socket " + from.name + ": descriptor " + std::to_string(from.number) +
            " is no end of a socket pair"
        );
    }
    return core::descriptor{from.number};
}

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
