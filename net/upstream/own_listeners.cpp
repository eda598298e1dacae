#include "net/upstream/own_listeners.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace net {
namespace {

struct listening {
    std::mutex mutex;  // held for a look at a few addresses, and only when a connection of this kind begins
    std::vector<tcp::endpoint> at;
};

// Never destroyed: a thread may still connect while the process exits.
listening& listeners_of_process()
{
    static auto& made = *new listening;  // NOLINT(cppcoreguidelines-owning-memory)
    return made;
}

core::ip_block block(std::string_view text)
{
    return core::parse_ip_block(text).value();  // NOLINT(bugprone-unchecked-optional-access): constants
}

// Linux connects to itself by these, too.
bool is_unspecified(const core::ip_address& address)
{
    static const auto v4 = block("0.0.0.0");
    return address == v4.base || address == core::ip_address{};
}

bool is_loopback(const core::ip_address& address)
{
    static const auto v4 = block("127.0.0.0/8");
    static const auto v6 = block("::1");
    return v4.contains(address) || v6.contains(address);
}

// Interfaces come and go, so that they are asked each time. A failure counts as yes: the port is one of ours.
bool is_of_this_machine(const core::ip_address& address)
{
    if (is_loopback(address)) {
        return true;
    }
    ::ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) {
        return true;
    }
    const std::unique_ptr<::ifaddrs, void (*)(::ifaddrs*)> owned{list, ::freeifaddrs};
    for (const auto* each = list; each != nullptr; each = each->ifa_next) {
        const auto* const found = each->ifa_addr;
        if (found != nullptr && (found->sa_family == AF_INET || found->sa_family == AF_INET6) &&
            ip_of(*found) == address) {
            return true;
        }
    }
    return false;
}

bool listens_at(const core::ip_address& address, std::uint16_t port)
{
    bool everywhere = false;
    {
        const std::lock_guard guard{listeners_of_process().mutex};
        for (const auto& each : listeners_of_process().at) {
            if (each.port() != port) {
                continue;
            }
            if (is_unspecified(address) || ip_of(*each.data()) == address) {
                return true;
            }
            everywhere = everywhere || each.address().is_unspecified();
        }
    }
    return everywhere && is_of_this_machine(address);
}

}  // namespace

void add_own_listener(const tcp::endpoint& at)
{
    const std::lock_guard guard{listeners_of_process().mutex};
    listeners_of_process().at.push_back(at);
}

void remove_own_listener(const tcp::endpoint& at)
{
    const std::lock_guard guard{listeners_of_process().mutex};
    auto& known = listeners_of_process().at;
    if (const auto found = std::ranges::find(known, at); found != known.end()) {
        known.erase(found);
    }
}

bool is_own_listener(const core::ip_address& address, std::string_view port)
{
    std::uint16_t number = 0;
    const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
    return read.ec == std::errc{} && listens_at(address, number);
}

core::ip_address ip_of(const ::sockaddr& address) noexcept
{
    core::ip_address out{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0}};
    if (address.sa_family == AF_INET) {
        ::sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        std::memcpy(out.bytes.data() + out.bytes.size() - sizeof v4.sin_addr, &v4.sin_addr, sizeof v4.sin_addr);
    } else if (address.sa_family == AF_INET6) {
        ::sockaddr_in6 v6{};
        std::memcpy(&v6, &address, sizeof v6);
        std::memcpy(out.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    }
    return out;
}

bool may_connect(const core::address_rule* rule, const ::sockaddr& to)
{
    if (rule == nullptr) {
        return true;
    }
    const auto address = ip_of(to);
    // The port is at the same place in both families.
    ::sockaddr_in with_port{};
    std::memcpy(&with_port, &to, sizeof with_port);
    return rule->allows(address) && !listens_at(address, ntohs(with_port.sin_port));
}

}  // namespace net
