// How an MCP server is reached, out of the keys of one agent. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/json/json.hpp"
#include "core/mcp_server.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace config {

// The values of `type`.
std::vector<std::string_view> transport_type_names();

struct mcp_parts {
    core::mcp_server server;
    core::json shown;  // the transport as it may be shown: only members that cannot hold a credential keep their value
    std::string url;   // of servers that are reached over HTTP
};

// `path` and `at` are the agent's. `url` beside a transport is the short form of one.
mcp_parts read_mcp_server(const members& given, const std::string& path, place at, problem_list& problems);

// Keys that only MCP servers have are problems here. They are taken out.
void take_mcp_keys(members& given, problem_list& problems);

}  // namespace config
