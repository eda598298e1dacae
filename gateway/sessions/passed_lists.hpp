// Lists of an MCP server in the process whose place this one takes: they vouch for the server's card until this process has a
// session of its own.
#pragma once

#include "mcp/protocol/discovery.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gateway::sessions {

struct passed_lists {
    std::string agent;
    std::string made_of;  // model::session_fingerprint(): lists of another server do not count
    std::shared_ptr<const ::mcp::server_lists> lists;
};

using lists_by_agent = std::map<std::string, passed_lists, std::less<>>;

inline lists_by_agent by_agent(std::vector<passed_lists> all)
{
    lists_by_agent out;
    for (auto& each : all) {
        auto id = each.agent;
        out.insert_or_assign(std::move(id), std::move(each));
    }
    return out;
}

}  // namespace gateway::sessions
