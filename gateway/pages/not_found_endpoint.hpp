// Requests without a route.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class not_found_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request::request_context& request);
};

}  // namespace gateway::pages
