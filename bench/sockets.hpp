// What the programs of a bench need of TCP on 127.0.0.1. A call that fails is a std::system_error, a wrong argument a
// std::invalid_argument.
#pragma once

#include <netinet/in.h>

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace bench {

[[noreturn]] void fail(const char* what);

template <class Number>
Number read_number(std::string_view text)
{
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
        throw std::invalid_argument{"not a number: " + std::string{text}};
    }
    return value;
}

// HOST:PORT, where HOST is an IPv4 address.
sockaddr_in read_address(std::string_view text);

int make_epoll();

// Adds a descriptor (EPOLL_CTL_ADD) or changes its events (EPOLL_CTL_MOD).
void watch(int epoll, int descriptor, std::uint32_t events, int operation);

// A socket that listens on this port, 0 for one that the kernel chooses, and does not block.
int listen_on(std::uint16_t port);

std::uint16_t port_of(int socket);

// The next connection that waits, which does not block, or -1.
int accept_next(int listener);

// A connected socket that blocks, or -1 if nobody listens. `receive_buffer` 0 is the kernel's choice.
int connect_to(const sockaddr_in& address, int receive_buffer = 0);

}  // namespace bench
