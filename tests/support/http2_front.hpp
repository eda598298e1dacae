// Speaks HTTP/2 in front of an agent of HTTP/1.1, so that what is tested with a scripted agent is tested over both. A request goes to the
// agent when it is whole; what comes back goes on as it comes. On 127.0.0.1, port 0, with threads of its own.
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

    std::uint16_t port() const noexcept;

    // Whether a front has this port.
    static bool has(std::uint16_t port);

private:
    class state;
    std::unique_ptr<state> state_;
};

// CARDEA_TEST_AGENT_HTTP=2 is in the environment: scripted agents without TLS have a front.
bool agents_speak_http2();

}  // namespace test_support
