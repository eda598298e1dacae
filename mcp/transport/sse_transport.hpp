// An MCP server over HTTP+SSE (MCP 2024-11-05, basic/transports, "HTTP with SSE"): one stream carries all that the server says,
// and its first event names where messages are posted to.
#pragma once

#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

#include <memory>

namespace mcp {

// connected() comes with the endpoint, which has to be of the URL's own origin; lost() if it does not come within
// request_timeout, and with the end of the stream. A request that is not taken in time has failed(), since servers do not
// answer those of sessions that they do not know; whether its answer comes is for others to watch. Bounds as for
// make_http_transport(). There is no stream of its own for what is said unasked, and no session to be ended but by closing.
//
// References outlive the transports.
transport_factory sse_factory(net::loop& on, net::exchange_client& client, http_settings settings);

// One of them.
std::unique_ptr<transport> make_sse_transport(
    net::loop& on,
    net::exchange_client& client,
    std::shared_ptr<const http_settings> settings,
    transport_observer& observer
);

// Works as make_http_transport(), until `initialize` is answered with 400, 404 or 405 and no answer to it: then the same URL is asked for
// HTTP+SSE, as sse_factory() does, and `initialize` goes to the endpoint that it names, which has to be of the URL's own
// origin. Once that has succeeded the later connections of the same factory begin that way, until one fails. What fails is told
// as the failure of `initialize`, with both answers; nothing is tried twice on one connection. That it may take as long as
// request_timeout for the endpoint to be named is for the caller to bound, who waits for the handshake.
//
// References outlive the transports.
transport_factory fallback_factory(net::loop& on, net::exchange_client& client, http_settings settings);

}  // namespace mcp
