#include "net/tcp_state.hpp"

// Not <netinet/tcp.h>: its tcp_info ends before the field that is needed here, and the two cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace net {

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

}  // namespace net
