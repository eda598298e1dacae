// GET of the keys that the cards are verified with.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class key_set_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
