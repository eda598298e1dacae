// POST /agent/register on the traffic listener, for callers who may register agents.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class registration_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
