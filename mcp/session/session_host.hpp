// How the parts of a runner (connections, requests, walks, conversation) reach the conductor. On the control loop's thread.
#pragma once

#include "mcp/session/session.hpp"
#include "net/loop/loop.hpp"

#include <memory>

namespace mcp {

class caller_lane;
class runner_observer;
struct runner_counts;

class session_host {
public:
    virtual ~session_host() = default;

    // The session handles the event, after the one that is under way. `of` is filled in if the event is about the session.
    virtual void happened(session_event event) = 0;

    // Every connection that was ended in order has closed.
    virtual void all_ended() = 0;

    virtual const session& state() const noexcept = 0;

    // Null: events are dropped.
    virtual runner_observer* observer() const noexcept = 0;
    virtual runner_counts& counts() noexcept = 0;

    // Gets what is not the session's own.
    virtual caller_lane& lane() noexcept = 0;
    virtual net::loop& loop() noexcept = 0;

    // Keeps the conductor alive: an observer may destroy the runner.
    virtual std::shared_ptr<const void> keep() = 0;
};

}  // namespace mcp
