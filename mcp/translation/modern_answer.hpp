// The answers of a server of the legacy era to a client of the modern era (MCP 2026-07-28, basic "Results", server/utilities/caching,
// server/discover; the error codes: basic, "Errors"). Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcp {

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
