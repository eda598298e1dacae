// The service manager's end of NOTIFY_SOCKET: a datagram socket at a path, whose messages a test reads one by one.
#pragma once

#include "core/descriptor.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/script.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace test_support {

class manager_socket {
public:
    // A path of a directory of its own, or with `name` an abstract name.
    explicit manager_socket(const std::string& name = {})
        : address_{name.empty() ? here_.file("notify") : '@' + name},
          socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)}
    {
        sockaddr_un where{};
        if (address_.size() >= sizeof where.sun_path) {
            throw std::length_error{"too long for a socket: " + address_};
        }
        where.sun_family = AF_UNIX;
        std::copy(address_.begin(), address_.end(), std::begin(where.sun_path));
        if (!name.empty()) {
            where.sun_path[0] = '\0';
        }
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
        if (::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&where), size) != 0) {
            throw std::system_error{errno, std::generic_category(), "bind"};
        }
    }

    // As NOTIFY_SOCKET has it.
    const std::string& address() const noexcept { return address_; }

    // The next message; nothing: none came in time.
    std::optional<std::string> next(std::chrono::milliseconds timeout = patience) const
    {
        pollfd watched{socket_.number(), POLLIN, 0};
        if (::poll(&watched, 1, static_cast<int>(timeout.count())) <= 0) {
            return std::nullopt;
        }
        std::array<char, 4096> block;
        const auto size = ::recv(socket_.number(), block.data(), block.size(), 0);
        return size < 0 ? std::nullopt : std::optional{std::string(block.data(), static_cast<std::size_t>(size))};
    }

    // What has come already.
    std::optional<std::string> at_hand() const { return next(std::chrono::milliseconds{0}); }

    // The next message that begins so; others are passed over.
    std::optional<std::string> next_with(std::string_view begin) const
    {
        auto message = next();
        while (message && !message->starts_with(begin)) {
            message = next();
        }
        return message;
    }

private:
    scratch_directory here_;
    std::string address_;
    core::descriptor socket_;
};

}  // namespace test_support
