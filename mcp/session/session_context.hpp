// The settings, counts and observer of a session_runner, and the state that its parts share. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/redaction.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/session/session.hpp"
#include "mcp/session/session_report.hpp"
#include "mcp/session/shared_channel.hpp"
#include "mcp/session/start_turns.hpp"
#include "net/loop/loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace mcp {

struct runner_settings {
    session_settings states;
    core::duration request_timeout{30'000};  // of each request of a walk
    core::duration call_timeout{600'000
    };  // a server that callers wait for is pinged only when it was silent for so long
    message_limits messages;
    discovery_limits lists;
    tool_headers headers = tool_headers::ignored;  // checked: of servers over streamable HTTP
    client_info client;
    // Masked in what is logged and reported in the server's words; may change.
    std::shared_ptr<const core::redaction> secrets = std::make_shared<const core::redaction>();
    start_place turns;  // one is waited for before a connection is opened
};

// `incomplete`: a list failed, and stays as it was.
enum class walk_outcome : std::uint8_t { unchanged, changed, incomplete };

// Called from within begin(), demand() and stop(), and from no other function of the runner.
class runner_observer {
public:
    virtual ~runner_observer() = default;

    virtual void session_changed(session_state state, session_reason why) = 0;

    // The server's lists have changed in a way that callers can see.
    virtual void listed(std::shared_ptr<const server_lists> lists) = 0;

    // A walk is over, after listed(); or why it failed.
    virtual void walked(const core::result<walk_outcome>& /*how*/) {}
};

struct runner_counts {
    std::uint64_t attempts = 0;     // to begin the session
    std::uint64_t connections = 0;  // opened; all but the first are restarts
    std::uint64_t handshakes = 0;   // that succeeded
    std::uint64_t walks = 0;        // that succeeded
    std::uint64_t walks_changed = 0;
    std::uint64_t walks_incomplete = 0;
    std::uint64_t walks_failed = 0;
    std::uint64_t received = 0;  // messages
    std::uint64_t sent = 0;
    std::uint64_t refused = 0;  // malformed messages
    core::duration latest_handshake{};
};

// The server's lists of this moment, or why they cannot be read.
using look_result = core::result<std::shared_ptr<const server_lists>>;

struct session_context {
    net::loop& loop;
    runner_settings settings;
    runner_observer* observer;  // null: events are dropped
    session_report notes;
    session state;
    shared_channel lane;  // open while the session is ready or degraded

    // The session handles the event, after the one that is under way. `of` is filled in if the event is about the session.
    std::function<void(session_event event)> happened;

    // Keeps the runner alive: an observer may let go of it.
    std::function<std::shared_ptr<const void>()> keep;
    runner_counts counts = {};
};

}  // namespace mcp
