// GET of `/`: which addresses the gateway has for callers. The same for all, so that it tells nothing of any agent.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class index_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    static net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
