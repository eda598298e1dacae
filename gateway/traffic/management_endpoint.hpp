// POST /rpc on the traffic listener: the management methods that only read.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class management_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
