#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"
#include "net/client/fetch.hpp"

#include <boost/system/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

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

// Calls the management methods of a running gateway through its admin listener. Blocking.
class admin_client {
public:
    // `address` is HOST:PORT or an http or https URL. `ca_file` (PEM) verifies an https address; empty: the system's
    // authorities do. `token` is sent as the bearer token; empty: none.
    admin_client(std::string address, std::string ca_file, core::secret token);

    // The result of the method.
    admin_result call(std::string_view method, const core::json& params) const;

    // The result of a method that answers in pages, such as agents/list: `agents` of all pages, at most `limit` of them,
    // `next` if there may be more, and the `summary` of the first page if it has one.
    admin_result
    call_pages(std::string_view method, core::json params, std::uint64_t limit, std::string_view list = "agents") const;

private:
    std::string address_;
    std::string url_;
    std::string ca_file_;
    core::secret token_;
};

}  // namespace gateway::cli
