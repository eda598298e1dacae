// Speaks HTTP/2 in front of an agent of HTTP/1.1, so that what is tested with a scripted agent is tested over both. A request goes to the
// agent when it is whole; what comes back goes on as it comes. The agent gives it the connections that begin with the preface, so that
// whoever speaks HTTP/1.1 to the agent's port still does. With threads of its own.
#pragma once

#include <cstdint>
#include <memory>

namespace test_support {

class http2_front {
public:
    // The agent at this port outlives the front.
    explicit http2_front(std::uint16_t agent);
    ~http2_front();
    http2_front(const http2_front&) = delete;
    http2_front& operator=(const http2_front&) = delete;

    // A connection whose preface is about to come; the front closes it.
    void take(int socket);

    // Whether the agent at this port has a front.
    static bool has(std::uint16_t port);

private:
    class state;
    std::unique_ptr<state> state_;
};

// CARDEA_TEST_AGENT_HTTP=2 is in the environment: scripted agents without TLS have a front, and a gateway in the test's process
// (flow::running_gateway) calls them by HTTP/2.
bool agents_speak_http2();

}  // namespace test_support
