// POST /rpc on the traffic listener. Principals with cardea:read see all of the agents, others what callers may know of those
// that they may discover.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class management_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
