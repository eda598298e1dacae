// Requests that are relayed without being read: any method and path that the agent's `relay_paths` let through.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::a2a {

class opaque_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request::request_context& request);
};

}  // namespace gateway::a2a
