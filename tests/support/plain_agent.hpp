// An upstream with a thread for each connection and blocking sockets: for tests that need speed, a stream without an end,
// or the moment at which something happened. It reads requests that have a Content-Length or no body.
#pragma once

#include "tests/support/script.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace test_support {

// One request and the connection it came on. In the connection's thread.
class plain_exchange {
public:
    std::string head;  // request line and fields, with the empty line
    std::string body;

    explicit plain_exchange(int socket)
        : socket_{socket}
    {
    }

    // Whether all of it was taken; it is not when the peer has gone or the agent ends.
    bool write(std::string_view data) const;
    // Each byte in a segment of its own, as far as the sender can bring that about.
    bool write_bytewise(std::string_view data) const;
    // Waits until the peer ends the connection, in either way, and gives the moment. Nothing: it did not in time.
    std::optional<std::chrono::steady_clock::time_point> wait_for_end(std::chrono::milliseconds timeout = patience)
        const;

private:
    int socket_;
};

class plain_agent {
public:
    // Answers one request; false ends the connection.
    using handler = std::function<bool(const plain_exchange&)>;

    // `send_buffer`: bytes that the kernel may hold of what is written; 0: its default.
    explicit plain_agent(handler serve, int send_buffer = 0);
    ~plain_agent();  // ends the connections and waits for their threads
    plain_agent(const plain_agent&) = delete;
    plain_agent& operator=(const plain_agent&) = delete;

    std::uint16_t port() const noexcept;
    std::string url(std::string_view path = "") const;

private:
    class server;
    std::unique_ptr<server> server_;
};

}  // namespace test_support
