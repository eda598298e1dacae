// What an MCP server listed in the process whose place this one takes: it vouches for the server's card until this process has a
// session of its own.
#pragma once

#include "mcp/protocol/discovery.hpp"

#include <memory>
#include <string>

namespace gateway::sessions {

struct passed_lists {
    std::string agent;
    std::string made_of;  // model::session_fingerprint(): lists of another server do not count
    std::shared_ptr<const mcp::server_lists> lists;
};

}  // namespace gateway::sessions
