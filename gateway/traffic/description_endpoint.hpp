// GET /agents/<id>: somebody reads where calls go, such as a browser, a probe, or a client that looks for a stream. Other
// methods are refused: a POST is a call.
#pragma once

#include "gateway/traffic/endpoint.hpp"

namespace gateway::traffic {

class description_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);
};

}  // namespace gateway::traffic
