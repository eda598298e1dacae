// MCP servers over HTTP: streamable HTTP (MCP, basic/transports, 2025-03-26 to 2025-11-25; 2026-07-28
// basic/transports/streamable-http), and HTTP+SSE (2024-11-05, basic/transports, "HTTP with SSE").
#pragma once

#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace mcp {

inline constexpr std::size_t most_posts = 16;  // messages of one connection under way at once, beside those of callers
// The limit for callers' messages that are not requests: there are as many connections as calls, to servers that may ask without end.
inline constexpr std::size_t most_notes = 4;
inline constexpr std::size_t most_waiting_posts = 256;  // behind either; over that send() fails with overloaded

// A server over streamable HTTP. There is nothing to connect: open() tells connected(), and lost() never comes. A message whose answer does not come in
// time has failed(); a stream that ends before the answer is taken up again with its last event's id until then. What
// is said unasked is listened to for as long as the connection is open; a stream that ends is made again, at first without
// a word if it had stood for a while and ended in order, but for one of the modern era, which needs open_stream() with
// another id. After session_lost() nothing is sent until `initialize` is. A list or
// ping of ours that is answered so fails with session_not_found instead. Of what is sent over max_message nothing goes
// out: send() fails with body_too_large. In the modern era answers are not sent, and the notification
// `notifications/cancelled` ends the request on its way that outgoing::cancels names; a caller's does so in the older era too, where
// it is also sent.
//
// References outlive the transport. `refused`, unless it is empty, is told instead of failed() that `initialize` was answered with 400, 404 or 405
// and no answer to it; it may destroy the transport.
std::unique_ptr<transport> make_http_transport(
    net::loop& on,
    net::exchange_client& client,
    std::shared_ptr<const http_settings> settings,
    transport_observer& observer,
    std::function<void(core::error why)> refused
);

// A server over HTTP+SSE: one stream carries all that it says, and its first event names where messages are posted to.
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
