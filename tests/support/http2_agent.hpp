// An upstream that speaks HTTP/2 and does exactly what a test says, frame by frame. libnghttp2 is its framing, without the checks of
// messages, so that it may break their rules. On 127.0.0.1, port 0, in its own thread.
#pragma once

#include "tests/support/script.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace test_support {

struct http2_agent_options {
    std::string cert_file{};  // PEM; not empty: TLS, with key_file
    std::string key_file{};
    bool chooses_h2 = true;       // by ALPN, with TLS
    std::uint32_t streams = 100;  // MAX_CONCURRENT_STREAMS
    bool tells_settings = true;   // false: it never says anything
    bool takes_bodies = true;     // false: it gives no credit beyond the first windows
    bool answers_pieces = false;  // the handler runs for each frame of a request, with what has come of the body since
    // Instead of the handler, in the agent's thread: a request has come, with its index; and its stream is no more, or its connection.
    std::function<void(std::size_t, const recorded_request&)> came{};
    std::function<void(std::size_t)> gone{};
    std::string instead{};  // not empty: this is said on each connection, and nothing else
};

// The steps of what is said on a stream. One that says no end leaves it open for http2_agent::say().
namespace h2 {

struct head {
    field_list fields;  // with ":status"
    bool last = false;
};
struct data {
    std::string text;
    bool last = false;
};
struct trailers {
    field_list fields;
};
struct reset {
    std::uint32_t code = 0;
};
struct goaway {
    std::int32_t last = 0;  // -1: the stream at hand
    std::uint32_t code = 0;
};
struct raw {
    std::string bytes;  // as they are, between two frames
};
struct close_now {};  // of the connection: FIN
struct break_now {};  // RST

using step = std::variant<head, data, trailers, reset, goaway, raw, close_now, break_now>;
using script = std::vector<step>;

script answer(unsigned status, std::string body, field_list fields = {}, field_list trailers = {});

}  // namespace h2

// Everything may be called from any thread. Destruction closes all connections and joins the thread.
class http2_agent {
public:
    // Runs in the agent's thread when a request has come.
    using handler = std::function<h2::script(const recorded_request&)>;

    explicit http2_agent(handler by_default, http2_agent_options options = {});
    ~http2_agent();
    http2_agent(const http2_agent&) = delete;
    http2_agent& operator=(const http2_agent&) = delete;

    // Closes all connections; nothing is called after it.
    void stop();

    std::uint16_t port() const noexcept;
    std::string url(std::string_view path = "") const;

    // A connection whose preface is about to come; the agent closes it.
    void take(int socket);

    // More on the stream of a request, by its index in order of arrival, from 0.
    void say(std::size_t request, h2::script more);

    // Requests whose ends have come. `headers` have the pseudo fields.
    std::vector<recorded_request> requests() const;
    recorded_request request(std::size_t index) const;
    bool wait_for_requests(std::size_t count, std::chrono::milliseconds timeout = patience) const;

    std::size_t accepted_connections() const;
    bool wait_for_open_connections(std::size_t exactly, std::chrono::milliseconds timeout = patience) const;
    // Codes of the RST_STREAM frames that have come.
    std::vector<std::uint32_t> resets() const;
    bool wait_for_resets(std::size_t count, std::chrono::milliseconds timeout = patience) const;
    std::size_t pings() const;
    std::size_t goaways() const;

private:
    class server;
    std::unique_ptr<server> server_;
};

}  // namespace test_support
