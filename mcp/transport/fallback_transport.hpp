// An MCP server over streamable HTTP that may turn out to know only HTTP+SSE, the transport of 2024-11-05 (MCP 2025-11-25,
// basic/transports, "Backwards Compatibility").
#pragma once

#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

namespace mcp {

// Works as make_http_transport(), until `initialize` is answered with 400, 404 or 405 and no answer to it: then the same URL is asked for
// HTTP+SSE, as sse_factory() does, and `initialize` goes to the endpoint that it names, which has to be of the URL's own
// origin. Once that has succeeded the later connections of the same factory begin that way, until one fails. What fails is told
// as the failure of `initialize`, with both answers; nothing is tried twice on one connection. That it may take as long as
// request_timeout for the endpoint to be named is for the caller to bound, who waits for the handshake.
//
// References outlive the transports.
transport_factory fallback_factory(net::loop& on, net::exchange_client& client, http_settings settings);

}  // namespace mcp
