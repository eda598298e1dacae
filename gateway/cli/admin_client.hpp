#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"
#include "gateway/cli/admin_options.hpp"
#include "net/client/fetch.hpp"

#include <boost/system/result.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net {
struct exchange_head;
struct exchange_request;
}  // namespace net

namespace gateway::cli {

// Fetches on an event loop of its own. Fails as net::fetcher. Blocking.
core::result<net::fetch_response> fetch_once(net::fetch_request request);

struct admin_failure {
    bool reached = false;  // the gateway answered, and refused
    std::string message;   // without a full stop if it was not reached
    std::string code{};    // of a refusal
    core::json data{};     // of a refusal; may be null
};

using admin_result = boost::system::result<core::json, admin_failure>;

// The failure as lines for stderr, printable; `about`, if not empty, is what was asked for.
std::string complaints(const admin_failure& failure, const std::string& about);
exit_code code_of(const admin_failure& failure) noexcept;

// A request to a route of the admin listener whose answer is read as it comes.
struct admin_request {
    std::string method = "GET";
    std::string path;  // with the query
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
    core::duration silence{0};  // that ends an event stream; 0: none does
};

// Hears of the answer. A head that is refused, false, ends the request; so does a piece.
struct admin_reader {
    std::function<bool(const net::exchange_head& head)> headed;
    std::function<bool(std::string_view piece)> took;
};

// Asks a running gateway through its admin listener. Blocking.
class admin_client {
public:
    // `address` is HOST:PORT or an http or https URL. `ca_file` (PEM) verifies an https address; empty: the system's
    // authorities do. `token` is sent as the bearer token; empty: none.
    admin_client(std::string address, std::string ca_file, core::secret token);

    // By the options of a command line. Fails if the file with the credential cannot be read: the detail is a sentence.
    static core::result<admin_client> open(const admin_options& options, const environment& variable);

    // The result of the management method.
    admin_result
    call(std::string_view method, const core::json& params, core::duration timeout = core::duration{60'000}) const;

    // The result of a method that answers in pages, such as agents/list: `agents` of all pages, at most `limit` of them,
    // `next` if there may be more, and the `summary` of the first page if it has one.
    admin_result
    call_pages(std::string_view method, core::json params, std::uint64_t limit, std::string_view list = "agents") const;

    // The answer to POST /reload.
    admin_result reload() const;

    // Sends a request, and waits for the end of its answer however long that takes. Nothing: it has ended, or the reader did not want
    // more. Any status is an answer.
    std::optional<admin_failure> stream(const admin_request& request, const admin_reader& reader) const;

    // The failure that such an answer means: a body as `{"error": …}`, or none that a gateway gives.
    admin_failure refusal(unsigned status, std::string_view body) const;

private:
    core::result<net::fetch_response> post(std::string_view path, std::string body, core::duration timeout) const;
    net::exchange_request exchange_of(const admin_request& request) const;
    admin_failure unreached(const core::error& why, bool answered = false) const;

    std::string address_;
    std::string base_;  // scheme and authority
    std::string ca_file_;
    core::secret token_;
};

}  // namespace gateway::cli
