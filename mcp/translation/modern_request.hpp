// A request of a client of the legacy era as a server of the modern era takes it (MCP 2026-07-28, basic/versioning,
// basic/patterns/mrtr): what the client said once, in `initialize`, stands in `_meta` of each request. Pure; any thread.
#pragma once

#include "mcp/calls/client_message.hpp"

#include <string>
#include <string_view>

namespace mcp {

// The capabilities and names of one client.
struct client_terms {
    std::string capabilities = "{}";  // raw object, as declared
    std::string info;                 // raw object; empty: none
    std::string level;                // of `logging/setLevel`; empty: none, so that the server logs nothing
};

// The additions to a request that goes up again, after the server has asked for input.
struct given_input {
    std::string responses;  // raw object; empty: none
    std::string state;      // the server's `requestState`, raw; empty: none
};

// The request with the terms in `params._meta`, and with the input in `params`. What has these names there already is
// replaced; all other bytes stay. `request` has params that are an object, or none.
kept_message to_modern(const client_message& request, const client_terms& terms, const given_input& input = {});

// A request of the gateway's own. `id`: raw; `params`: raw object.
kept_message own_request(std::string_view id, std::string_view method, std::string_view params);

// Nothing but name and version of a client's `clientInfo` if it is longer than this: it goes up with each request. Empty: it has
// not both, in a quarter of that each.
inline constexpr std::size_t longest_client_info = 2048;
std::string short_client_info(std::string_view raw);

// A level of syslog, as `logging/setLevel` has them (RFC 5424 section 6.2.1).
bool is_log_level(std::string_view name) noexcept;

}  // namespace mcp
