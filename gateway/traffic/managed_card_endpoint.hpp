// Answers with the extended card that the gateway makes for a principal, over every route on which one is asked for.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class managed_card_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    // Of a request with an agent, a principal, and request.managed. Nobody may keep the answer.
    net::routine<> answer(request_context& request);

private:
    net::routine<core::result<std::string>> make(request_context& request);
};

}  // namespace gateway::traffic
