// A TCP socket that a test opens for a gateway, as a service manager does: on a port of the system's choice.
#pragma once

#include "core/descriptor.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace test_support {

enum class socket_state : std::uint8_t { bound, listening };

// On 127.0.0.1, or on every address of IPv4. Failures are std::system_error.
class listening_socket {
public:
    explicit listening_socket(
        std::uint32_t address = INADDR_LOOPBACK,
        socket_state state = socket_state::listening,
        int type = SOCK_STREAM
    )
        : socket_{::socket(AF_INET, type | SOCK_CLOEXEC, 0)}
    {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(address);
        socklen_t size = sizeof where;
        auto* const generic = reinterpret_cast<sockaddr*>(&where);
        check(::bind(socket_.number(), generic, size), "bind");
        if (state == socket_state::listening) {
            check(::listen(socket_.number(), 128), "listen");
        }
        check(::getsockname(socket_.number(), generic, &size), "getsockname");
        port_ = ntohs(where.sin_port);
    }

    int number() const noexcept { return socket_.number(); }
    int release() noexcept { return socket_.release(); }
    std::uint16_t port() const noexcept { return port_; }
    std::string port_text() const { return std::to_string(port_); }

private:
    static void check(int outcome, const char* what)
    {
        if (outcome != 0) {
            throw std::system_error{errno, std::generic_category(), what};
        }
    }

    core::descriptor socket_;
    std::uint16_t port_ = 0;
};

}  // namespace test_support
