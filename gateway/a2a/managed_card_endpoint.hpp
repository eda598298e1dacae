// Answers with the extended card that the gateway makes for a principal, over every route on which one is asked for.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::a2a {

class managed_card_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    // Of a request with an agent and a principal; `as` is its request.managed. Nobody may keep the answer.
    net::routine<> answer(request::request_context& request, model::card_position as);

private:
    net::routine<core::result<std::string>> make(request::request_context& request, ::a2a::card_dialect dialect);
};

}  // namespace gateway::a2a
