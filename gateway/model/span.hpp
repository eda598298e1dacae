// Span of a request, or of one attempt to have an agent answer it, for a collector of traces. No credential, query or
// body is in it.
#pragma once

#include "core/clock.hpp"
#include "core/trace_context.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::model {

// In the words of OpenTelemetry: `server` is a request of a caller, `client` one attempt at an agent.
enum class span_kind : std::uint8_t { server, client };

struct span {
    core::trace_context at;    // its trace and itself
    core::span_id parent = 0;  // 0: the trace begins with it
    span_kind kind = span_kind::server;
    bool failed = false;  // a fault of whoever answered: the gateway or the agent
    core::wall_time start{};
    core::wall_time end{};
    // Views here are of texts that live as long as the process.
    std::string_view http_method;  // empty: none that is known
    std::string_view route;        // the kind of path; empty: none
    std::string_view scheme;       // http or https; empty: not known
    std::string_view rpc_method;   // of A2A, MCP or the management API; empty: none
    std::string_view error;        // a code of the gateway's; empty: none
    unsigned status = 0;           // 0: no answer
    unsigned resends = 0;          // attempts before this one
    std::string path;              // without query; empty: is not told
    std::string host;              // that was asked; empty: not known
    std::uint16_t port = 0;        // of it; 0: the scheme's own
    std::string agent;             // an id; empty: none
    // A message of MCP or a call of A2A in the words of OpenTelemetry's conventions for MCP and generative AI; empty: none.
    bool is_mcp = false;
    bool is_a2a = false;
    std::string_view operation;  // execute_tool or invoke_agent
    std::string protocol;        // a version of MCP
    std::string tool;            // that is called, if the server lists it, else `other`
    std::string request_id;      // of JSON-RPC: a text without its quotes, or a number
    std::string agent_name;      // in its card
    std::string conversation;    // the `contextId` of A2A
};

// Spans that a worker hands over now and then.
struct span_batch {
    std::vector<span> spans;
    std::uint64_t dropped = 0;  // that it had no room for

    bool empty() const noexcept { return spans.empty() && dropped == 0; }
};

}  // namespace gateway::model
