// One HTTP request on the gateway's own behalf: cards, later key sets and tokens. Never part of a caller's request.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "core/secret.hpp"
#include "net/tls/tls_context.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net {

class loop;

struct fetch_request {
    std::string url;                                           // http or https
    std::vector<std::pair<std::string, std::string>> headers;  // may carry credentials: never logged
    std::string query;                                         // a further parameter of the URL: never logged
    std::shared_ptr<const core::address_rule> addresses;       // what may be connected to; null: any address
    core::secret proxy;                                        // as core::agent::proxy; empty: that of the process
    std::optional<std::string> body;                           // sent with POST; nothing: a GET
    tls_client_files tls;                                      // for https
    std::uint64_t max_size = 1024 * 1024;                      // of the body, decoded; over it: errc::card_too_large
    bool http2 = false;               // over http with prior knowledge, over https if the server chooses it
    bool status_only = false;         // the body counts for nothing, not even if it is cut or too large
    bool last_on_connection = false;  // it is closed then, and not kept for another request; so too with `addresses`
    std::chrono::seconds reuse{30};   // an older connection is not used, and closed: its name may have lost the address
    core::duration timeout{10'000};   // the whole exchange, name resolution included
    core::duration connect_timeout{5'000};  // until the connection, with its TLS, stands
};

struct fetch_response {
    unsigned status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // as they came; names in lower case, values trimmed
    std::string body;                                          // decoded

    // The value of the first header of this name, in lower case; empty: there is none.
    std::string_view field(std::string_view name) const noexcept;

    // How long to wait before the next request, as Retry-After says in seconds (RFC 9110 section 10.2.3). 0: it does not; its
    // other form, a date, is not read.
    core::duration retry_after() const noexcept;
};

// An interface so that tests can answer instead of the network.
class fetcher {
public:
    using executor_type = boost::asio::io_context::executor_type;

    virtual ~fetcher() = default;

    // Any status is a response: redirects are not followed. Fails with upstream_unresolved, upstream_refused,
    // upstream_forbidden,
    // upstream_tls, upstream_proxy, upstream_timeout, upstream_reset, upstream_protocol (not HTTP, or a head over 64 KiB, or an
    // encoding that was not asked for), card_too_large; with internal when the request itself cannot be sent; with
    // caller_gone when the waiting coroutine was cancelled or the fetcher destroyed. The detail
    // never holds a header value. Never throws.
    virtual boost::asio::awaitable<core::result<fetch_response>, executor_type> fetch(fetch_request request) = 0;
};

// libcurl's multi interface driven by `io`: many transfers at once, connections kept and reused, certificate
// and host name always verified, through the proxy that there may be, gzip accepted. Everything, construction and destruction
// included, on the one thread that runs `io`, which must outlive the fetcher. Destruction aborts what is in flight:
// each waiting coroutine goes on, with an error, when `io` runs next.
class curl_fetcher final : public fetcher {
public:
    // On a loop: hosts are found in its names, so that a name that is known is not waited for.
    curl_fetcher(loop& on, std::string user_agent);

    // libcurl looks hosts up, each time.
    curl_fetcher(boost::asio::io_context& io, std::string user_agent);
    ~curl_fetcher() override;
    curl_fetcher(const curl_fetcher&) = delete;
    curl_fetcher& operator=(const curl_fetcher&) = delete;

    boost::asio::awaitable<core::result<fetch_response>, executor_type> fetch(fetch_request request) override;

private:
    class engine;
    static boost::asio::awaitable<core::result<fetch_response>, executor_type>
    fetch_by(std::weak_ptr<engine> by, fetch_request request);

    std::shared_ptr<engine> engine_;  // shared only for coroutines that have not begun when the fetcher ends
};

}  // namespace net
