// GET of `/`: which addresses the gateway has for callers. The same for all, so that it tells nothing of any agent.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class index_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    static net::routine<> answer(request::request_context& request);
};

}  // namespace gateway::pages
