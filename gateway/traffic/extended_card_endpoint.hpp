// GET of an agent's extended card: a relay whose answer is a card.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class extended_card_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> look(request_context& request);

private:
    net::routine<>
    ask_in_translation(request_context& request, a2a::dialect caller, const model::agent_interface* through);
};

}  // namespace gateway::traffic
