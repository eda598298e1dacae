// Requests without a route.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class not_found_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
