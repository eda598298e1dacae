// Messages of an MCP server that go to a caller as a stream of events (MCP 2025-11-25, basic/transports; HTML standard,
// "Server-sent events"). On the thread of the caller's loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/program_port.hpp"
#include "net/loop/routine.hpp"
#include "net/server/caller_exchange.hpp"

#include <string>
#include <string_view>

namespace gateway::mcp::route {

class message_stream {
public:
    // `caller` outlives it.
    explicit message_stream(net::caller_exchange& caller)
        : caller_{caller}
    {
    }

    // Writes the head, which goes out with what comes first. `fields`: further lines of it.
    void begin(std::string_view fields);

    // Before anything is sent: an event without data comes first of all, which says how soon the client may come again. `id`: of
    // that event; empty: none.
    void prime(std::string_view id);

    // Each fails with caller_gone; the stream then cannot go on. A message is one event, and the last one of a stream that
    // ends with it. What is referred to outlives the routine.
    net::routine<core::result<>> send_head();
    net::routine<core::result<>> send(std::string message, bool last);
    net::routine<core::result<>> send(const model::program_event& event, bool last);
    net::routine<core::result<>> send_comment(std::string_view text);  // with the empty line behind it
    net::routine<core::result<>> send_last(std::string_view event);    // the same, and the end
    net::routine<core::result<>> send_end();

    // When something was sent.
    core::steady_time last_sent() const noexcept { return sent_; }

private:
    net::routine<core::result<>> write(std::string_view event, std::string_view data, std::string_view end, bool last);

    net::caller_exchange& caller_;
    std::string_view head_;  // in the scratch of the caller, until it has been sent
    std::string first_;      // the same for what comes before all messages
    core::steady_time sent_{};
};

}  // namespace gateway::mcp::route
