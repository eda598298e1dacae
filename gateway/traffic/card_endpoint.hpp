// GET of an agent's card: from memory while it is fresh, else from the control loop.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class card_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);

private:
    net::routine<> send(request_context& request, const model::card_answer& found);
};

}  // namespace gateway::traffic
