// A blocking client for tests: raw bytes out, raw bytes or a message that Boost.Beast accepts in. Every read is bounded
// in time. Failures are std::runtime_error: a test that meets one has failed. With CARDEA_TEST_HTTP=2 in the environment a client that
// does not choose its protocols itself speaks HTTP/2, and shows what comes as text of HTTP/1.1.
#pragma once

#include "tests/support/http2_voice.hpp"
#include "tests/support/scripted_agent.hpp"

#include <openssl/ssl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace test_support {

struct http_response {
    unsigned status = 0;
    std::string reason;
    field_list headers;  // as they came, in order
    std::string body;    // without chunked coding

    std::string header(std::string_view name) const { return first_value(headers, name); }
    std::size_t count(std::string_view name) const { return count_values(headers, name); }
};

// How a client speaks TLS.
struct tls_caller {
    std::string ca_file;             // the gateway's certificate is verified with it
    std::string name{"127.0.0.1"};   // and has to be for this; SNI, unless it is an address
    int newest_tls = 0;              // such as TLS1_2_VERSION; 0: what OpenSSL has
    SSL_SESSION* session = nullptr;  // to resume
    std::string protocols{};         // ALPN, as it is sent; empty: not sent
    std::string cert_file{};         // PEM: shown if it is asked for, with key_file; empty: none
    std::string key_file{};
};

// The version that clients speak, as `Via` has it.
std::string http_version();
bool over_http2();

class http_client {
public:
    explicit http_client(std::uint16_t port, std::chrono::milliseconds timeout = patience);
    // Shakes hands; a failure of that is an exception with OpenSSL's reason.
    http_client(std::uint16_t port, const tls_caller& how, std::chrono::milliseconds timeout = patience);
    ~http_client();
    http_client(http_client&& other) noexcept;
    http_client& operator=(http_client&&) = delete;

    void send(std::string_view data);
    // Like send, but tells instead of throwing when the peer takes no more.
    bool try_send(std::string_view data);

    // The next final response (1xx are skipped); what came after it stays for the next call. `to_head`: it has no body.
    http_response read_response(bool to_head = false);
    // The head only; what follows is read by read_some and the like.
    http_response read_head();
    // At least one byte; empty: the peer closed.
    std::string read_some();
    // Everything up to and with `text`.
    std::string read_until(std::string_view text);
    // Everything until the peer closes (or resets).
    std::string read_until_closed();
    // True: the peer closed or reset, with nothing more to read. False: bytes came, or nothing within the timeout.
    bool closed_by_peer(std::chrono::milliseconds timeout = patience);

    void half_close();  // FIN, with TLS after close_notify; still reads
    void reset();       // RST
    void close();
    std::uint16_t local_port() const;
    // HTTP/2: the peer has sent GOAWAY, so that no request can begin.
    bool told_to_leave() const noexcept { return voice_ != nullptr && voice_->leaving(); }
    SSL* tls() const noexcept { return tls_.get(); }
    // With TLS: the end was said in TLS, and not only by the connection's end.
    bool ended_in_order() const noexcept { return in_order_; }

private:
    struct tls_deleter {
        void operator()(SSL* tls) const noexcept;
    };

    bool fill(std::chrono::milliseconds timeout);
    bool take_some();
    bool send_bytes(std::string_view data);
    void take(std::string_view received);
    void shake_hands(const tls_caller& how);
    bool wait_for(short events, std::chrono::steady_clock::time_point by) const;
    long send_now(std::string_view data);
    long receive_now(char* into, std::size_t size);

    int socket_ = -1;
    std::unique_ptr<SSL, tls_deleter> tls_;
    std::chrono::milliseconds timeout_;
    std::unique_ptr<http2_voice> voice_;  // null: HTTP/1.1
    std::string buffer_;                  // received, not consumed
    bool ended_ = false;
    bool in_order_ = false;
};

// One request on a connection of its own, with Host and Content-Length added unless given.
http_response request(
    std::uint16_t port,
    std::string_view method,
    std::string_view target,
    const field_list& headers = {},
    std::string_view body = {}
);

// The bytes that request() sends.
std::string request_text(
    std::string_view method,
    std::string_view target,
    const field_list& headers = {},
    std::string_view body = {}
);

}  // namespace test_support
