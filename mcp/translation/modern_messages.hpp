// Requests as servers of the modern era read them, and answers as its clients do (MCP 2026-07-28, basic "Results",
// server/utilities/caching, basic/versioning). Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
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

// An answer to a request of this method, with what results of the modern era must have and this one lacks: `resultType`, and for
// lists, resources/read and server/discover also `ttlMs` and `cacheScope`, so that nobody keeps it. Error -32002 becomes -32602.
// Every other byte stays, and so does a text that is no answer.
std::string modern_answer(client_method asked, std::string text);

// The result with which the gateway ends a request that stays open, for a client of this era.
std::string end_answer(client_method asked, era speaks, std::string_view raw_id);

// The answer to `server/discover`, without what modern_answer() adds. `tells_changes`: subscriptions/listen is served.
std::string discover_answer(std::string_view raw_id, const server_facts& server, bool tells_changes);

// Whether this raw cursor is one of list_answer(), and not a server's.
bool is_own_cursor(std::string_view raw);

inline constexpr std::size_t largest_page = 1024 * 1024;  // bytes of entries, unless the first is longer

// A page of the list, without what modern_answer() adds. `cursor`: raw, as an earlier page had it; empty: the first page. Fails
// with invalid_params: no page had such a cursor.
core::result<std::string>
list_answer(std::string_view raw_id, list_kind list, const server_lists& lists, std::string_view cursor);

}  // namespace mcp
