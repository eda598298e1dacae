// An upstream that does exactly what a test says, down to the single write, and remembers what reached it. Serves
// HTTP/1.1 through Boost.Beast, an implementation independent of ours, on 127.0.0.1, port 0, in its own thread.
#pragma once

#include "tests/support/script.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

enum class on_accept : std::uint8_t { serve, silence, close, reset };

struct agent_options {
    std::string cert_file{};  // PEM; not empty: TLS, with key_file
    std::string key_file{};
    on_accept accepts = on_accept::serve;
    std::string callers_ca_file{};      // PEM; not empty: callers need a certificate of this authority
    int newest_tls = 0;                 // such as TLS1_1_VERSION; 0: what OpenSSL has
    std::string ciphers{};              // of TLS 1.2 and before; empty: OpenSSL's
    std::string address = "127.0.0.1";  // that it listens on, which url() does not say
    std::uint16_t port = 0;
};

// Everything may be called from any thread. Destruction closes all connections and joins the thread.
class scripted_agent {
public:
    explicit scripted_agent(agent_options options = {});
    explicit scripted_agent(handler by_default, agent_options options = {});
    ~scripted_agent();
    scripted_agent(const scripted_agent&) = delete;
    scripted_agent& operator=(const scripted_agent&) = delete;

    std::uint16_t port() const noexcept;
    // "http://127.0.0.1:<port>" + path, https with TLS.
    std::string url(std::string_view path = "") const;

    // Scripts queued here are used first, one per request in the order of arrival; then the default handler (404).
    void next(script what);
    void otherwise(handler by_default);

    // Requests count from when they were read whole, body included.
    std::vector<recorded_request> requests() const;
    recorded_request request(std::size_t index) const;  // index from 0; throws std::out_of_range
    std::size_t request_count() const;
    bool wait_for_requests(std::size_t count, std::chrono::milliseconds timeout = patience);
    bool wait_for(
        const std::function<bool(const std::vector<recorded_request>&)>& predicate,
        std::chrono::milliseconds timeout = patience
    );

    std::size_t accepted_connections() const;
    std::size_t open_connections() const;
    std::size_t most_open_connections() const;
    bool wait_for_connections(std::size_t accepted, std::chrono::milliseconds timeout = patience);
    bool wait_for_open_connections(std::size_t exactly, std::chrono::milliseconds timeout = patience);

    // Server-sent events, to every connection that is in an `events` step, as one write (one chunk) each.
    bool wait_for_streams(std::size_t open, std::chrono::milliseconds timeout = patience);
    void send_event(std::string_view data);   // "data: " + data + "\n\n"
    void send_stream(std::string_view data);  // as given, inside the chunked coding
    void end_streams();                       // last chunk; the connection goes on
    void cut_streams();                       // FIN in the middle

    // Whether the peer has ended `connections` of the connections, in any state they were in.
    bool wait_until_peer_closed(std::chrono::milliseconds timeout = patience, std::size_t connections = 1);
    std::size_t closed_by_peer() const;

private:
    class server;
    std::unique_ptr<server> server_;
};

// A port of 127.0.0.1 on which nobody listens, nor will while this process lives. One thread.
std::uint16_t unused_port();

}  // namespace test_support
