// How a failure looks from outside: the only place where an errc becomes an HTTP status or a JSON-RPC code.
#pragma once

#include "core/error.hpp"

namespace core {

// The HTTP status (RFC 9110 section 15). 499 is for the access log: nobody is left to read it.
unsigned http_status(errc code) noexcept;

// JSON-RPC 2.0 section 5.1, and A2A 1.0 section 5.4 where that means the same. Nothing else of what A2A and MCP reserve
// (-32099..-32000) is used: gateway conditions that neither has a code for are -31000 minus their HTTP status.
int jsonrpc_code(errc code) noexcept;

// The status of an answer whose body says so as a JSON-RPC error: 200 where it is about the call and not about what carries
// it, as A2A's servers have it; else http_status().
unsigned jsonrpc_http_status(errc code) noexcept;

// Whether the same request may succeed if it is sent again later, unchanged; not if an operator has to change something first.
bool retryable(errc code) noexcept;

// Whether the failure that an agent answers with this status passes by itself: 408, 429, 502, 503 and 504.
bool passes(unsigned status) noexcept;

}  // namespace core
