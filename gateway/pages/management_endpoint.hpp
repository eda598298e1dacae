// POST /rpc on the traffic listener. Principals with cardea:read see all of the agents, others what callers may know of those
// that they may discover.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class management_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request::request_context& request);
};

}  // namespace gateway::pages
