// Which agent a call by gRPC is for: it has no path that says so. Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gateway::grpc {

// The places where a call may name an agent, in the order in which they count; empty: it does not there.
struct named_agents {
    std::string_view host;  // the id of the agent at whose own name the call came
    std::string_view
        tenant;  // of the message of 1.0: `<id>` or `<id>/<agent's tenant>`, or a tenant of an agent named otherwise
    std::string_view metadata;       // cardea-agent
    std::string_view default_agent;  // grpc.default_agent
};

struct agent_choice {
    std::string id;
    std::string tenant;    // that the agent gets; empty: none
    bool removed = false;  // the message has a longer one
};

// Whether an agent takes calls with a tenant of its own.
using has_tenant = std::function<bool(std::string_view agent, std::string_view tenant)>;

// Fails with agent_unnamed: none is named, or two.
core::result<agent_choice> choose_agent(const named_agents& from, const has_tenant& knows);

}  // namespace gateway::grpc
