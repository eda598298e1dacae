// An MCP server over streamable HTTP (MCP, basic/transports, 2025-03-26 to 2025-11-25; 2026-07-28
// basic/transports/streamable-http).
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

// There is nothing to connect: open() tells connected(), and lost() never comes. A message whose answer does not come in
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

}  // namespace mcp
