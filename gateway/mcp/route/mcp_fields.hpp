// Facts that decide where a request to an MCP server goes: its header fields, and what is known of its method. Pure; any thread.
#pragma once

#include "mcp/calls/incoming.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "net/http1/head.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gateway::mcp::route {

// Views into the head.
::mcp::head_fields mcp_fields_of(const net::http1::request_head& head);

// Those that repeat arguments of a call (`Mcp-Param-*`), in their order.
std::vector<std::pair<std::string, std::string>> parameter_fields_of(const net::http1::request_head& head);

// Something that is read on the loop is longer than 64 KiB, in any of the messages.
bool is_too_long(const ::mcp::incoming_body& read);

}  // namespace gateway::mcp::route
