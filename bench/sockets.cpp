#include "bench/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace bench {
namespace {

void send_at_once(int socket)
{
    const int on = 1;
    if (::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        fail("setsockopt");
    }
}

// The sockets interface takes every address as a sockaddr.
const sockaddr* generic(const sockaddr_in& address)
{
    return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

void fail(const char* what)
{
    throw std::system_error{errno, std::generic_category(), what};
}

sockaddr_in read_address(std::string_view text)
{
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        throw std::invalid_argument{"not an address: " + std::string{text}};
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(read_number<std::uint16_t>(text.substr(colon + 1)));
    if (::inet_pton(AF_INET, std::string{text.substr(0, colon)}.c_str(), &address.sin_addr) != 1) {
        throw std::invalid_argument{"not an address: " + std::string{text}};
    }
    return address;
}

int make_epoll()
{
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        fail("epoll_create1");
    }
    return epoll;
}

void watch(int epoll, int descriptor, std::uint32_t events, int operation)
{
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    if (::epoll_ctl(epoll, operation, descriptor, &event) != 0) {
        fail("epoll_ctl");
    }
}

int listen_on(std::uint16_t port)
{
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(listener, generic(address), sizeof address) != 0 || ::listen(listener, SOMAXCONN) != 0) {
        fail("listen");
    }
    return listener;
}

std::uint16_t port_of(int socket)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        fail("getsockname");
    }
    return ntohs(address.sin_port);
}

int accept_next(int listener)
{
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
        send_at_once(socket);
    } else if (errno != EAGAIN && errno != ECONNABORTED) {
        fail("accept4");
    }
    return socket;
}

int connect_to(const sockaddr_in& address, int receive_buffer)
{
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) {
        fail("socket");
    }
    send_at_once(socket);
    if (receive_buffer > 0) {
        ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    if (::connect(socket, generic(address), sizeof address) != 0) {
        ::close(socket);
        return -1;
    }
    return socket;
}

}  // namespace bench
