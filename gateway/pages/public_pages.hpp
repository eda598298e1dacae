// The small documents that everybody may read: the index, the keys that cards are verified with, who the gateway is as a protected
// resource, and the answers to a GET of an agent's address or of an address without a route.
#pragma once

#include "gateway/request/route_base.hpp"

namespace gateway::pages {

class public_pages : public request::route_base {
public:
    using route_base::route_base;

    // GET /: the addresses of the gateway.
    static net::routine<> serve_index(request::request_context& request);

    // Answers a request without a route.
    net::routine<> serve_nothing(request::request_context& request);

    // GET /agents/<id>: somebody reads where calls go, such as a browser, a probe, or a client that looks for a stream. Other
    // methods are refused: a POST is a call.
    net::routine<> serve_description(request::request_context& request);

    // GET of the keys that the cards are verified with.
    net::routine<> serve_keys(request::request_context& request);

    // GET of which authorization servers callers get their tokens from (RFC 9728). Every caller gets the same, and an agent that is not
    // there is answered for like one that not everybody may know of. An MCP server that logs callers in itself says what its document has.
    net::routine<> serve_metadata(request::request_context& request);

private:
    bool logs_callers_in(request::request_context& request) const;
    net::routine<> serve_login(request::request_context& request);
};

}  // namespace gateway::pages
