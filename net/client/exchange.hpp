// One HTTP request on the gateway's own behalf whose answer is told piece by piece: event streams that stay open for days,
// and what may turn into one. For whole answers there is net/client/fetch.hpp.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "core/secret.hpp"
#include "net/loop/loop.hpp"
#include "net/tls/tls_context.hpp"

#include <cstdint>
#include <functional>
#include <memory>
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
    core::secret proxy;                                        // as core::agent::proxy; empty: that of the process
    std::shared_ptr<const std::string> body;                   // null: none
    tls_client_files tls;                                      // for https
    core::duration connect_timeout{5'000};                     // until the connection, with its TLS, stands
    core::duration head_timeout{30'000};                       // from the start until the head of the answer is whole
    core::duration idle_timeout{30'000};                       // between two pieces of a body that is no event stream
    core::duration stream_timeout{0};                          // between two pieces of one that is; 0: none
    std::uint64_t max_size = 8 * 1024 * 1024;                  // of a body that is no event stream
    // May be sent again if a kept connection turns out to be gone before a byte of the answer; else only if the peer cannot have got it.
    bool repeatable = true;
    // As upstream_target::dial. Empty: over the network.
    std::function<core::descriptor()> dial{};
    std::string dialled_key{
    };  // with `dial`: requests of equal keys share connections; empty: it is closed behind the answer
    bool http2 = false;  // as upstream_target::http2; not with `dial`
};

struct exchange_head {
    unsigned status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // as they came; names in lower case, values trimmed

    // The first with this name, which is in lower case. Empty: none.
    std::string_view field(std::string_view name) const noexcept;

    // Its media type is `type`, whatever its case and its parameters.
    bool has_type(std::string_view type) const noexcept;
};

// Hears of an exchange, never from within a call of exchange_client::start(). Each function may start other exchanges, and destroy
// this one, others, and the client.
class exchange_observer {
public:
    virtual ~exchange_observer() = default;

    virtual void headed(const exchange_head& head) = 0;

    // A part of the body, as it came; at most 64 KiB; valid during the call. A peer that says so much that this takes
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

// Over connections as those of calls (net/upstream/upstream.hpp), which are kept and reused: certificates and host names are always
// verified, HTTP/1.1 or by wish HTTP/2, redirects not followed, through the proxy that there may be, names looked up once for the process. Certificates and
// authorities are read again when their files have changed. No content coding is asked for, since coders hold events back.
// Times are exact to net::sweep_interval. Everything, construction and destruction included, on the thread of `on`, which must
// outlive the client and its exchanges.
class exchange_client {
public:
    exchange_client(loop& on, std::string user_agent);
    ~exchange_client();  // exchanges under way are told nothing more
    exchange_client(const exchange_client&) = delete;
    exchange_client& operator=(const exchange_client&) = delete;

    // Any status is an answer. `observer` outlives the exchange. It ends with upstream_unresolved, upstream_refused, upstream_forbidden,
    // upstream_tls, upstream_proxy, upstream_timeout, upstream_reset, upstream_protocol (not HTTP/1.x, a head over 64 KiB, a coding, no http or https
    // URL), message_too_large (a body over max_size), overloaded (leaves_room_for_callers()); with internal if the request itself
    // cannot be sent. The detail never holds a header value.
    std::unique_ptr<exchange> start(exchange_request request, exchange_observer& observer);

    // Closes the connections that no exchange has, and keeps none from now on. The loop would wait for them.
    void close();

private:
    class engine;
    class running;

    std::unique_ptr<engine> engine_;
};

}  // namespace net
