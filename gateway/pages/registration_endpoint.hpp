// POST /agent/register on the traffic listener, for callers who may register agents.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class registration_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request::request_context& request);
};

}  // namespace gateway::pages
