// The header fields that both HTTP transports put into requests and read out of answers. Sources: MCP
// basic/transports of 2024-11-05 to 2025-11-25; 2026-07-28 basic/transports/streamable-http. One thread at a time.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/ip.hpp"
#include "core/mcp_server.hpp"
#include "core/redaction.hpp"
#include "core/secret.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/http1/cookie_jar.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

using loop_timer = net::asio::
    basic_waitable_timer<std::chrono::steady_clock, net::asio::wait_traits<std::chrono::steady_clock>, net::executor>;

// Gives the token to show a server, another one than `refused`, which the server did not take; empty: any. Waits for one that is
// being asked for. Outlives the transports.
using token_supply = std::function<net::task<core::result<core::secret>>(core::secret refused)>;

// How a server is reached over HTTP.
struct http_settings {
    std::string url;
    net::tls_client_files tls;
    core::mcp_server server;
    std::vector<std::pair<std::string, core::secret>> headers = {};  // sent with every request
    token_supply tokens = {};                                        // for a bearer with every request; null: none
    core::secret query = {};                                   // a further parameter of every address; empty: none
    std::shared_ptr<const core::address_rule> addresses = {};  // what may be connected to; null: any address
    core::secret proxy = {};                                   // as core::agent::proxy; empty: that of the process
    bool http2 = false;                                        // as net::exchange_request::http2
    std::function<core::descriptor()> dial = {};               // as net::exchange_request::dial
    // Masked in the server's words.
    std::shared_ptr<const core::redaction> secrets = std::make_shared<const core::redaction>();
    core::duration first_retry{1'000};  // of a stream that has ended, unless the server says something else (`retry`)
    core::duration longest_retry{30'000};           // after several that failed
    core::duration shortest_retry{100};             // of what the server says
    core::duration longest_asked_retry{3'600'000};  // the longest `retry` of a server that is followed (HTML, 9.2)
    core::duration steady_stream{10'000};           // one that stood so long was not part of a row of failures
    core::duration linger{1'000};                   // for what follows an answer on its stream
    core::duration end_session_timeout{2'000};

    // Before a stream is taken up again, for which the server may have asked for a time.
    core::duration pause(std::optional<core::duration> asked) const noexcept
    {
        return asked ? std::clamp(*asked, shortest_retry, longest_asked_retry) : first_retry;
    }
};

// A value as it stands in a field: visible ASCII as it is, all else as `=?base64?…?=` (2026-07-28).
std::string as_header_value(std::string_view text);

// 1 to 1024 visible ASCII characters, as a session's id has to be.
bool is_session_id(std::string_view text) noexcept;

// How long an answer to this request is waited for.
core::duration patience_for(const outgoing& message, const core::mcp_server& server) noexcept;

// Where an answer sends the request that was sent to `url`: 307 or 308, which keep method and body, to the same origin. Empty:
// nowhere that is gone to.
std::string redirect_target(const std::string& url, const net::exchange_head& head);

inline constexpr unsigned most_redirects = 3;  // of one request, one after the other

// Where one request has been sent, by itself and by redirects.
struct http_course {
    std::string at;
    unsigned redirects = 0;

    // Whether the answer sends it on, to where it then is.
    bool follow(const net::exchange_head& head);
};

// "status 401 to initialize", and what the head says about that: of 401 and 403 the challenge, of a redirect where it leads.
// Nothing of what the server was given to keep, and no query.
std::string refusal_text(const net::exchange_head& head, std::string_view method, const http_settings& settings);

// The beginning of the body of 401 or 403, behind that; empty for any other status.
std::string refusal_body(unsigned status, std::string_view body, const http_settings& settings);

// Behind that too: the type and the beginning of what came instead of an answer.
std::string unexpected_body(std::string_view type, std::string_view body, const http_settings& settings);

// upstream_status; of 401 and 403, which the next attempt does not change, session_misconfigured.
core::errc refusal_code(unsigned status) noexcept;

// The state that every request of a connection carries.
struct http_wire {
    net::loop& on;
    net::exchange_client& client;
    const http_settings& settings;
    std::optional<dialect> speaks = std::nullopt;  // once settled
    std::string session_id = {};                   // of the legacy era; never logged
    net::http1::cookie_jar cookies = {};           // of that session, or of one to come
    std::string moved_to = {};                     // where a redirect has led on this connection
    core::secret token = {};                       // the latest of settings.tokens; empty: none yet

    bool modern() const noexcept { return speaks && speaks->modern(); }
    const std::string& url() const noexcept { return moved_to.empty() ? settings.url : moved_to; }

    // With the configured fields, the version and the session, but for the message that begins a session.
    net::exchange_request request(std::string_view http_method, const outgoing* message) const;
    net::exchange_request post(const outgoing& message, std::shared_ptr<const std::string> text)
        const;                                                           // instead of its own
    net::exchange_request listen(std::string_view last_event_id) const;  // GET

    // Takes the cookies of an answer to a request to `url`.
    void take_cookies(const std::string& url, const net::exchange_head& head);

    // All that came before belongs to another session.
    void forget_session()
    {
        session_id.clear();
        cookies.clear();
    }

    // Calls exchange_client::start(), with cookies; with a token, if there are `tokens`, for which it waits.
    std::unique_ptr<net::exchange> start(net::exchange_request request, net::exchange_observer& observer);

    // Adds the latest token, if there was one.
    void show_token(net::exchange_request& to) const;

    // Adds the cookies for its address to those of a configured field.
    void show_cookies(net::exchange_request& to) const;
};

}  // namespace mcp
