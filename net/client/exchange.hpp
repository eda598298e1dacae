// One HTTP request on the gateway's own behalf whose answer is told piece by piece: event streams that stay open for days,
// and what may turn into one. For whole answers there is net/client/fetch.hpp.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "net/tls/tls_context.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net {

class loop;

struct exchange_request {
    std::string url;  // http or https
    std::string method = "GET";
    std::vector<std::pair<std::string, std::string>> headers;  // may carry credentials: never logged
    std::string query;                                         // a further parameter of the URL: never logged
    std::shared_ptr<const core::address_rule> addresses;       // what may be connected to; null: any address
    std::optional<std::string> body;
    tls_client_files tls;                      // for https
    core::duration connect_timeout{5'000};     // until the connection, with its TLS, stands
    core::duration head_timeout{30'000};       // from the start until the head of the answer is whole
    core::duration idle_timeout{30'000};       // between two pieces of a body that is no event stream
    core::duration stream_timeout{0};          // between two pieces of one that is; 0: none
    std::uint64_t max_size = 8 * 1024 * 1024;  // of a body that is no event stream
    bool repeatable = true;  // may be sent again if a kept connection turns out to be gone before a byte of the answer
};

struct exchange_head {
    unsigned status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // as they came; names in lower case, values trimmed

    // The first with this name, which is in lower case. Empty: none.
    std::string_view field(std::string_view name) const noexcept;

    // Its media type is `type`, whatever its case and its parameters.
    bool has_type(std::string_view type) const noexcept;
};

// What an exchange tells, never from within a call of exchange_client::start(). Each may start other exchanges, and destroy
// this one, others, and the client.
class exchange_observer {
public:
    virtual ~exchange_observer() = default;

    virtual void headed(const exchange_head& head) = 0;

    // A part of the body, as it came; at most about 256 KiB; valid during the call. A peer that says so much that this takes
    // more than about a quarter of the time, after a second, is not read for a while.
    virtual void took(std::string_view piece) = 0;

    // The last thing that is told: the body is whole, or why it is not. See exchange_client::start().
    virtual void ended(core::result<> how) = 0;
};

// One exchange under way. Destruction ends it: nothing more is told, and unless it was over its connection is closed.
class exchange {
public:
    virtual ~exchange() = default;
};

// Certificates and host names are always verified, HTTP/1.1, redirects not followed, no proxy from the environment,
// connections kept and reused. No content coding is asked for, since coders hold events back. Everything, construction and
// destruction included, on the one thread that runs `io`, which must outlive the client.
class exchange_client {
public:
    // As those of curl_fetcher.
    exchange_client(loop& on, std::string user_agent);
    exchange_client(boost::asio::io_context& io, std::string user_agent);
    ~exchange_client();  // exchanges under way are told nothing more
    exchange_client(const exchange_client&) = delete;
    exchange_client& operator=(const exchange_client&) = delete;

    // Any status is an answer. `observer` outlives the exchange. It ends with upstream_unresolved, upstream_refused, upstream_forbidden,
    // upstream_tls, upstream_timeout, upstream_reset, upstream_protocol (not HTTP/1.x, a head over 64 KiB, a coding),
    // message_too_large (a body over max_size), overloaded (leaves_room_for_callers()); with internal if the request itself
    // cannot be sent. The detail never holds a header value.
    std::unique_ptr<exchange> start(exchange_request request, exchange_observer& observer);

private:
    class engine;
    class transfer;
    class running;

    std::shared_ptr<engine> engine_;  // shared only for exchanges that are destroyed later
};

}  // namespace net
