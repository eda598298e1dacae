// How an MCP server is reached, out of the keys of one agent. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/choices.hpp"
#include "core/json/json.hpp"
#include "core/mcp_server.hpp"
#include "core/secret.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace config {

// The values of `type`. Several may mean the same.
inline constexpr auto transport_types = std::to_array<core::choice<core::mcp_transport>>(
    {{core::mcp_transport::stdio, "stdio"},
     {core::mcp_transport::stdio, "local"},
     {core::mcp_transport::sse, "sse"},
     {core::mcp_transport::streamable_http, "streamable-http"},
     {core::mcp_transport::streamable_http, "streamable_http"},
     {core::mcp_transport::streamable_http, "streamableHttp"},
     {core::mcp_transport::streamable_http, "http"}}
);

struct mcp_parts {
    core::mcp_server server;
    core::json shown;  // the transport as it may be shown: only members that cannot hold a credential keep their value
    std::string url;   // of servers that are reached over HTTP
    std::vector<std::pair<std::string, core::secret>> headers;  // of these: sent with every request
};

// `path` and `at` are the agent's. `url` beside a transport is the short form of one.
mcp_parts read_mcp_server(const members& given, const std::string& path, place at, problem_list& problems);

// Keys that only MCP servers have are problems here. They are taken out.
void take_mcp_keys(members& given, problem_list& problems);

}  // namespace config
