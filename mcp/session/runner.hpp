// Keeps one session with one MCP server: carries out what session_state.hpp says, on real transports and timers, and holds
// the latest lists of the server. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/redaction.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/session/session.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/transport.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

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
    // Of what is told and logged in the server's words; may change.
    std::shared_ptr<const core::redaction> secrets = std::make_shared<const core::redaction>();
    start_place turns;  // one is waited for before a connection is opened
};

// What a walk over the lists came to. `incomplete`: a list could not be had, and stays as it was.
enum class walk_outcome : std::uint8_t { unchanged, changed, incomplete };

// Never from within a call of the runner's own functions, but for begin(), demand() and stop().
class runner_observer {
public:
    virtual ~runner_observer() = default;

    virtual void session_changed(session_state state, session_reason why) = 0;

    // What the server lists has changed in a way that callers can see.
    virtual void listed(std::shared_ptr<const server_lists> lists) = 0;

    // A walk is over, behind what listed() says of it; or why it came to nothing.
    virtual void walked(const core::result<walk_outcome>& /*how*/) {}
};

struct runner_counts {
    std::uint64_t attempts = 0;     // to begin the session, whatever came of them
    std::uint64_t connections = 0;  // opened; all but the first are restarts
    std::uint64_t handshakes = 0;   // that succeeded
    std::uint64_t walks = 0;        // that succeeded
    std::uint64_t walks_changed = 0;
    std::uint64_t walks_incomplete = 0;
    std::uint64_t walks_failed = 0;
    std::uint64_t received = 0;  // messages
    std::uint64_t sent = 0;
    std::uint64_t refused = 0;  // messages that were none
    core::duration latest_handshake{};
};

// What a server lists just now, or why it cannot be told.
using look_result = core::result<std::shared_ptr<const server_lists>>;

class conductor;

class runner {
public:
    // References outlive the runner. `name` is for the log.
    runner(
        net::loop& on,
        runner_settings settings,
        transport_factory make,
        runner_observer& observer,
        const core::logger& log,
        std::string name
    );

    // Ends the server at once if it still runs; call stop() before and wait for session_state::stopped.
    ~runner();
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;

    void begin();   // once
    void demand();  // somebody wants it
    void stop();

    // Walks the lists now, unless a walk over all of them is under way; nothing unless it is ready or degraded. walked() tells
    // the end.
    void refresh();

    // session_settings::walk from now on: if it is another one, they are walked now.
    void set_walk(core::duration interval);

    // Walks them and keeps nothing of it. `then` is told once, perhaps before this returns; never if the runner goes. While it
    // is ready or degraded only; session_crashed if that ends. Who comes while one is under way is told with it.
    void look(std::function<void(const look_result&)> then);

    // What is under way for look() is given up, and told as upstream_timeout.
    void end_look();

    // As caller_lane::factory(): what callers say over the session's connection.
    transport_factory lane();

    session_state state() const noexcept;
    session_reason reason() const noexcept;

    // What reason() is about, in words, a server's among them: for operators. Empty: there are none, or it is ready.
    const std::string& detail() const noexcept;

    // A session was ready once.
    bool has_begun() const noexcept { return latest() != nullptr; }

    // What the latest attempt failed with does not pass by itself: there is no such program, or the server asks for credentials.
    bool needs_operator() const noexcept;

    // Null: there was none yet. Kept while the session is gone.
    const std::shared_ptr<const server_lists>& latest() const noexcept;

    // Since when it is ready or degraded; nothing: it is not.
    std::optional<core::steady_time> ready_since() const noexcept;

    // When it is connected again, while it waits for that (backoff, failed).
    std::optional<core::steady_time> next_attempt() const noexcept;
    const runner_counts& counts() const noexcept;

    // The era that the server speaks, since the latest handshake, and before the first walk. Nothing: there was none yet.
    std::optional<era> spoken() const noexcept;

    // The latest handshake went over HTTP+SSE, since the server does not know streamable HTTP.
    bool fell_back() const noexcept;

    // Bytes that wait until the server takes them.
    std::size_t queued() const noexcept;

private:
    std::shared_ptr<conductor> conductor_;  // shared with what is posted
};

}  // namespace mcp
