// Long messages of MCP servers, read on the thread of long bodies.
#pragma once

#include "gateway/threads/side_thread.hpp"
#include "mcp/transport/offloading_transport.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>

namespace gateway::sessions {

// `made`, or null if that is: its texts over mcp::read_at_once are read on `thread` and told on `loop`, which outlive them. Without a
// thread they are read where they come.
// `largest` and `most_items` as mcp::read_apart(): bytes of one message, and items of each list in a result.
::mcp::transport_factory read_on(
    threads::side_thread* thread,
    net::loop& loop,
    ::mcp::transport_factory made,
    std::size_t largest,
    std::size_t most_items = 0
);

}  // namespace gateway::sessions
