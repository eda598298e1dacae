#include "net/loop/tcp_state.hpp"

// Not <netinet/tcp.h>: its tcp_info ends before the field that is needed here, and the two cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace net {
namespace {

bool set(int descriptor, int level, int option, int value) noexcept
{
    return ::setsockopt(descriptor, level, option, &value, sizeof value) == 0;
}

}  // namespace

std::optional<std::uint64_t> bytes_acknowledged(int descriptor) noexcept
{
    ::tcp_info info{};
    ::socklen_t size = sizeof(info);
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(::tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked)) {
        return std::nullopt;
    }
    return info.tcpi_bytes_acked;
}

bool watch_for_dead_peer(int descriptor) noexcept
{
    return set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1) && set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 30) &&
           set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 10) && set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3) &&
           set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

bool hold_little_unsent(int descriptor) noexcept
{
    return set(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, most_unsent);
}

}  // namespace net
