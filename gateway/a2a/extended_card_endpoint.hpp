// GET of an agent's extended card: a relay whose answer is a card.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::a2a {

class extended_card_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request::request_context& request);

private:
    net::routine<>
    ask_in_translation(request::request_context& request, ::a2a::dialect caller, const model::agent_interface* through);
};

}  // namespace gateway::a2a
