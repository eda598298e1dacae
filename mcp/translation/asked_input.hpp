// The input that a server of the modern era asks for before it carries a call out (`resultType: "input_required"`, MCP 2026-07-28,
// basic/patterns/mrtr), as the requests that a client of the legacy era gets. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_capabilities.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_input_rounds = 16;             // of one call
inline constexpr std::size_t most_input_requests = 16;           // in one round
inline constexpr std::size_t longest_request_state = 64 * 1024;  // bytes of its text

struct input_request {
    std::string key;  // in `inputRequests` and `inputResponses`
    std::string method;
    std::string_view params;  // raw; empty: none
};

struct asked_input {
    std::vector<input_request> requests;
    std::string_view state;  // raw string; empty: none
};

// Reads the answer to a call, which has been checked as a message; views into it. Nothing: it asks for nothing. Fails with upstream_protocol: neither
// requests nor state, over a limit, a request without a method, or params that are no object.
core::result<std::optional<asked_input>> read_asked_input(std::string_view answer);

// Whether a client that has declared this answers such a request.
bool may_be_asked(const client_capabilities& declared, const input_request& request);

// The request to the client.
std::string question_text(std::uint64_t id, const input_request& request);

}  // namespace mcp
