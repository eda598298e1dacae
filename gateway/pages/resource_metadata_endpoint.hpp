// GET of what the gateway is as a protected resource: which authorization servers callers get their tokens from (RFC 9728).
#pragma once

#include "gateway/request/endpoint.hpp"

namespace gateway::pages {

class resource_metadata_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    // Every caller gets the same, and an agent that is not there is answered for like one that not everybody may know of. An MCP
    // server that logs callers in itself says what its document has.
    net::routine<> answer(request::request_context& request);

private:
    bool logs_callers_in(request::request_context& request) const;
    net::routine<> answer_for_server(request::request_context& request);
};

}  // namespace gateway::pages
