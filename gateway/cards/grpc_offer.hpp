// Where cards offer agents by gRPC, which has no paths: a name and a port that SDKs dial, and how calls name the agent there. Pure.
#pragma once

#include "a2a/card/card.hpp"
#include "config/settings.hpp"
#include "core/agent.hpp"

#include <string>
#include <string_view>

namespace gateway::cards {

struct grpc_terms {
    bool offered = false;  // the traffic listener speaks HTTP/2
    config::grpc_settings settings{};
    std::string agent_hosts{};  // as config::process_settings
};

grpc_terms grpc_terms_of(const config::process_settings& settings);

// `grpc.public` as it is written, else the agent's own name, else that of `public_base`, the latter two with the port of
// `public_base`. Calls name the agent by its id as tenant, unless the name is its own or it is the default agent. No authority: gRPC is
// not offered.
::a2a::grpc_place grpc_place_of(const core::agent& agent, const grpc_terms& terms, std::string_view public_base);

}  // namespace gateway::cards
