// An answer that is a stream of events and is under way, so that a shutdown can end it. On the thread of its caller's loop.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "core/place_shares.hpp"
#include "gateway/model/snapshot.hpp"

#include <boost/intrusive/list.hpp>

namespace gateway::relay {

// The observer may keep it in a list for as long as it lives.
class open_stream
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    virtual ~open_stream() = default;

    // Says in a comment between two events that the gateway is about to end. May resume the stream's coroutine.
    virtual void announce_end() = 0;

    // The gateway accepts nobody any more. A stream that is part of no call, such as that of what an MCP server says unasked, ends in
    // order, with its last event whole: its client asks for it again elsewhere. Any other one goes on. May resume the stream's
    // coroutine.
    virtual void end_listening() = 0;

    // The stream ends once the caller has taken what came of it or takes nothing more.
    virtual void end_stream() = 0;
    virtual const model::agent_entry& agent() const noexcept = 0;

    // The owner of the stream; 0: a caller without a credential.
    virtual core::caller_mark whose() const noexcept = 0;

    // For the observer: what it is of its principal's share of streams, until it is destroyed.
    core::place_share& share() noexcept { return of_principal_; }

private:
    core::place_share of_principal_;
};

// Told when an answer turns out to be a stream of events, and which states its tasks are in.
class stream_observer {
public:
    virtual ~stream_observer() = default;

    // Keeps a place for an answer that may turn out to be a stream, so that one is not refused after the server has acted; given
    // up before the stream begins, or when there is none. False: limits.streams is reached, or half of it by the principal, and
    // nothing is to be given up.
    virtual bool keep_place(open_stream& stream) = 0;
    virtual void give_place_up(open_stream& stream) = 0;

    // False: it is one too many, and is not passed on.
    virtual bool stream_began(open_stream& stream) = 0;
    virtual void stream_ended() = 0;  // one that began

    // The answer has shown a task of this agent in a state that it was not in before.
    virtual void task_changed(const model::agent_entry& agent, ::a2a::task_state state) = 0;
};

}  // namespace gateway::relay
