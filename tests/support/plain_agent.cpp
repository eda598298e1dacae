#include "tests/support/plain_agent.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace test_support {
namespace {

[[noreturn]] void fail(const char* what)
{
    throw std::system_error{errno, std::generic_category(), std::string{"plain_agent: "} + what};
}

std::size_t announced_length(std::string_view head)
{
    constexpr std::string_view name = "\r\nContent-Length:";
    const auto at = head.find(name);
    return at == std::string_view::npos ? 0 : std::stoul(std::string{head.substr(at + name.size(), 20)});
}

// One request from the socket, what was read beyond it kept in `rest`. False: the connection has ended.
bool read_request(int socket, std::string& rest, plain_exchange& into)
{
    std::array<char, 64 * 1024> block;
    const auto more = [&] {
        const auto size = ::recv(socket, block.data(), block.size(), 0);
        if (size > 0) {
            rest.append(block.data(), static_cast<std::size_t>(size));
        }
        return size > 0;
    };
    std::size_t end = 0;
    while ((end = rest.find("\r\n\r\n")) == std::string::npos) {
        if (!more()) {
            return false;
        }
    }
    into.head = rest.substr(0, end + 4);
    const auto whole = into.head.size() + announced_length(into.head);
    while (rest.size() < whole) {
        if (!more()) {
            return false;
        }
    }
    into.body = rest.substr(into.head.size(), whole - into.head.size());
    rest.erase(0, whole);
    return true;
}

}  // namespace

bool plain_exchange::write(std::string_view data) const
{
    while (!data.empty()) {
        const auto sent = ::send(socket_, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool plain_exchange::write_bytewise(std::string_view data) const
{
    for (std::size_t at = 0; at < data.size(); ++at) {
        if (!write(data.substr(at, 1))) {
            return false;
        }
    }
    return true;
}

std::optional<std::chrono::steady_clock::time_point> plain_exchange::wait_for_end(std::chrono::milliseconds timeout
) const
{
    const auto until = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        const auto now = std::chrono::steady_clock::now();
        pollfd ready{socket_, POLLIN, 0};
        if (now >= until ||
            ::poll(
                &ready,
                1,
                static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(until - now).count())
            ) <= 0) {
            return std::nullopt;
        }
        char byte = 0;
        if (::recv(socket_, &byte, 1, 0) <= 0) {
            return std::chrono::steady_clock::now();
        }
    }
}

class plain_agent::server {
public:
    server(handler serve, int send_buffer)
        : serve_{std::move(serve)},
          send_buffer_{send_buffer},
          listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
            ::listen(listener_, 4096) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
            fail("listen");
        }
        port = ntohs(address.sin_port);
        acceptor_ = std::thread{[this] { accept(); }};
    }

    ~server()
    {
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        {
            const std::lock_guard guard{mutex_};
            for (const int socket : sockets_) {
                ::shutdown(socket, SHUT_RDWR);
            }
        }
        for (auto& thread : threads_) {
            thread.join();
        }
        for (const int socket : sockets_) {
            ::close(socket);
        }
        ::close(listener_);
    }

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    std::uint16_t port = 0;

private:
    void accept()
    {
        for (;;) {
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) {
                return;
            }
            const int on = 1;
            ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (send_buffer_ > 0) {
                ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer_, sizeof send_buffer_);
            }
            {
                const std::lock_guard guard{mutex_};
                sockets_.push_back(socket);
            }
            threads_.emplace_back([this, socket] { converse(socket); });
        }
    }

    void converse(int socket) const
    {
        std::string rest;
        plain_exchange exchange{socket};
        while (read_request(socket, rest, exchange) && serve_(exchange)) {
        }
        // The descriptor stays until the end, so that no other connection gets its number.
        ::shutdown(socket, SHUT_RDWR);
    }

    handler serve_;
    int send_buffer_;
    int listener_;
    std::thread acceptor_;
    std::mutex mutex_;
    std::vector<int> sockets_;
    std::vector<std::thread> threads_;
};

plain_agent::plain_agent(handler serve, int send_buffer)
    : server_{std::make_unique<server>(std::move(serve), send_buffer)}
{
}

plain_agent::~plain_agent() = default;

std::uint16_t plain_agent::port() const noexcept
{
    return server_->port;
}

std::string plain_agent::url(std::string_view path) const
{
    return "http://127.0.0.1:" + std::to_string(server_->port) + std::string{path};
}

}  // namespace test_support
