#include "tests/support/tunnel_proxy.hpp"

#include "core/descriptor.hpp"
#include "tests/support/listening_socket.hpp"

#include <netinet/tcp.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace test_support {
namespace {

bool write_all(int socket, std::string_view data)
{
    while (!data.empty()) {
        const auto written = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
        if (written <= 0) {
            return false;
        }
        data.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// Whether there was something.
bool pass(int from, int to)
{
    std::array<char, 16384> block{};
    const auto got = ::recv(from, block.data(), block.size(), 0);
    return got > 0 && write_all(to, {block.data(), static_cast<std::size_t>(got)});
}

void pump(int one, int other)
{
    for (;;) {
        std::array<::pollfd, 2> both{{{one, POLLIN, 0}, {other, POLLIN, 0}}};
        if (::poll(both.data(), both.size(), -1) < 0) {
            return;
        }
        if ((both[0].revents != 0 && !pass(one, other)) || (both[1].revents != 0 && !pass(other, one))) {
            return;
        }
    }
}

core::descriptor connected_to(std::uint16_t port)
{
    core::descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
        return {};
    }
    return socket;
}

}  // namespace

class tunnel_proxy::server {
public:
    server(std::uint16_t to, std::string answer)
        : to_{to},
          answer_{std::move(answer)},
          acceptor_{[this] { accept(); }}
    {
    }
    ~server()
    {
        ::shutdown(listener_.number(), SHUT_RDWR);
        acceptor_.join();
        {
            const std::lock_guard guard{mutex_};
            for (auto& each : connections_) {
                ::shutdown(each.socket.number(), SHUT_RDWR);
            }
        }
        for (auto& each : connections_) {
            each.thread.join();
        }
    }
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    std::uint16_t port() const noexcept { return listener_.port(); }

    void set_answer(std::string answer, bool bytewise)
    {
        const std::lock_guard guard{mutex_};
        answer_ = std::move(answer);
        bytewise_ = bytewise;
    }

    std::vector<std::string> heads() const
    {
        const std::lock_guard guard{mutex_};
        return heads_;
    }

private:
    struct connection {
        core::descriptor socket;
        std::thread thread{};
    };

    void accept()
    {
        for (;;) {
            core::descriptor socket{::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC)};
            if (!socket.open()) {
                return;
            }
            const std::lock_guard guard{mutex_};
            auto& made = connections_.emplace_back(connection{std::move(socket)});
            made.thread = std::thread{[this, number = made.socket.number()] {
                serve(number);
                ::shutdown(number, SHUT_RDWR);
            }};
        }
    }

    void serve(int socket)
    {
        std::string head;
        std::array<char, 4096> block{};
        while (head.find("\r\n\r\n") == std::string::npos) {
            const auto got = ::recv(socket, block.data(), block.size(), 0);
            if (got <= 0) {
                return;
            }
            head.append(block.data(), static_cast<std::size_t>(got));
        }
        std::string answer;
        bool bytewise = false;
        {
            const std::lock_guard guard{mutex_};
            heads_.push_back(head.substr(0, head.find("\r\n\r\n") + 4));
            answer = answer_;
            bytewise = bytewise_;
        }
        const bool tunnel = head.starts_with("CONNECT ");
        if (tunnel && (!say(socket, answer, bytewise) || answer.find("HTTP/1.1 2") == std::string::npos)) {
            return;
        }
        const auto server = connected_to(to_);
        if (server.open() && (tunnel || write_all(server.number(), head))) {
            pump(socket, server.number());
        }
    }

    static bool say(int socket, std::string_view answer, bool bytewise)
    {
        const int yes = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        for (std::size_t i = 0; bytewise && i < answer.size(); ++i) {
            if (!write_all(socket, answer.substr(i, 1))) {
                return false;
            }
        }
        return bytewise || write_all(socket, answer);
    }

    listening_socket listener_;
    std::uint16_t to_;
    mutable std::mutex mutex_;
    std::string answer_;
    bool bytewise_ = false;
    std::vector<std::string> heads_;
    std::list<connection> connections_;
    std::thread acceptor_;
};

tunnel_proxy::tunnel_proxy(std::uint16_t to, std::string answer)
    : server_{std::make_unique<server>(to, std::move(answer))}
{
}

tunnel_proxy::~tunnel_proxy() = default;

std::uint16_t tunnel_proxy::port() const noexcept
{
    return server_->port();
}

std::string tunnel_proxy::url(std::string_view user) const
{
    return std::string{"http://"}.append(user).append("127.0.0.1:").append(std::to_string(port()));
}

void tunnel_proxy::set_answer(std::string answer, bool bytewise)
{
    server_->set_answer(std::move(answer), bytewise);
}

std::vector<std::string> tunnel_proxy::heads() const
{
    return server_->heads();
}

}  // namespace test_support
