// How a failure looks from outside: the only place where an errc becomes an HTTP status or a JSON-RPC code.
#pragma once

#include "core/error.hpp"

namespace core {

// The HTTP status (RFC 9110 section 15). 499 is for the access log: nobody is left to read it.
unsigned http_status(errc code) noexcept;

// JSON-RPC 2.0 section 5.1. What A2A and MCP reserve (-32099..-32000) is never used: gateway conditions that the
// standard has no code for are -31000 minus their HTTP status.
int jsonrpc_code(errc code) noexcept;

// Whether the same request may succeed if it is sent again later, unchanged; not if an operator has to change something first.
bool retryable(errc code) noexcept;

}  // namespace core
