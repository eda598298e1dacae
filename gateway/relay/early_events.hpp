// A caller that would wait in silence for the head of an answer gets a stream of events at once: comments until the answer is
// there, and then the answer as an event (MCP 2025-03-26 to 2026-07-28, basic/transports). On the thread of the caller's loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/relay/answer_writer.hpp"
#include "gateway/relay/relay_call.hpp"
#include "net/server/caller_exchange.hpp"

namespace gateway::relay {

class relay;

class early_events {
public:
    // For `stream`, which settings.streams counts when it begins. References outlive it.
    early_events(
        relay& stream,
        net::caller_exchange& caller,
        answer_writer& writer,
        const relay_settings& settings,
        const relay_call& call
    );

    // When break_silence() is to be called while the head of the answer does not come; the end of time: never.
    core::steady_time due() const;
    net::routine<core::result<>> break_silence();

    // The head is out.
    bool begun() const noexcept { return begun_; }

    // Whether an answer becomes an event because its caller takes events alone. An error keeps its status, and stays what it is.
    bool wraps(const net::http1::response_head& head) const noexcept;

    // Begins the stream of the agent's answer, unless it has begun(): events go on as they are, JSON becomes one. Fails with
    // upstream_status and upstream_protocol: it is neither; with overloaded, and as a write does.
    net::routine<core::result<>> begin(const net::http1::response_head& head);

private:
    core::result<> adopt(const net::http1::response_head& head);
    void write_head() const;

    relay& stream_;
    net::caller_exchange& caller_;
    answer_writer& writer_;
    const relay_settings& settings_;
    const relay_call& call_;
    core::steady_time due_;
    bool begun_ = false;
};

}  // namespace gateway::relay
