// GET of the keys that the cards are verified with.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class key_set_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request::request_context& request);
};

}  // namespace gateway::pages
