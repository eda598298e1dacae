// GET /agents/<id>: somebody reads where calls go, such as a browser, a probe, or a client that looks for a stream. Other
// methods are refused: a POST is a call.
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class description_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request::request_context& request);
};

}  // namespace gateway::pages
