// An HTTP proxy on 127.0.0.1 for which every name is one port of 127.0.0.1. It remembers the heads that reached it, and answers CONNECT as a
// test says. A thread for each connection, blocking sockets.
#pragma once

#include "tests/support/script.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

class tunnel_proxy {
public:
    // `answer`: to CONNECT; after one of 2xx the tunnel stands. A request in absolute form goes on as it is.
    explicit tunnel_proxy(std::uint16_t to, std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n");
    ~tunnel_proxy();  // ends the connections and waits for their threads
    tunnel_proxy(const tunnel_proxy&) = delete;
    tunnel_proxy& operator=(const tunnel_proxy&) = delete;

    std::uint16_t port() const noexcept;
    std::string url(std::string_view user = "") const;  // "http://" + user + "127.0.0.1:<port>"

    // Each byte of the answer in a segment of its own, as far as the sender can bring that about.
    void set_answer(std::string answer, bool bytewise = false);

    // The first head of each connection, with its empty line.
    std::vector<std::string> heads() const;

private:
    class server;
    std::unique_ptr<server> server_;
};

}  // namespace test_support
