// How an MCP server is reached and its session kept, out of the keys of one agent. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/schema.hpp"
#include "core/json/json.hpp"
#include "core/mcp_server.hpp"

#include <map>
#include <string>

namespace config {

using agent_keys = std::map<agent_key, field>;

struct mcp_parts {
    core::mcp_server server;
    core::json shown;  // the transport as it may be shown: only members that cannot hold a credential keep their value
    std::string url;   // of servers that are reached over HTTP
};

// `path` and `at` are the agent's. `url` beside a transport is the short form of one.
mcp_parts read_mcp_server(const agent_keys& given, const std::string& path, place at, problem_list& problems);

// Keys that only MCP servers have are problems here.
void refuse_mcp_keys(const agent_keys& given, problem_list& problems);

}  // namespace config
