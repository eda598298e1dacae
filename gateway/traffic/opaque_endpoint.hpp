// Requests that are relayed without being read: any method and path that the agent's `relay_paths` let through.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class opaque_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request_context& request);
};

}  // namespace gateway::traffic
