// Keeps one session with one MCP server: runs the state machine of session.hpp on real transports and timers, speaks the messages
// of the session (session_messages.cpp), and holds the latest lists of the server. It outlives its owner until the event under way
// is handled. On the control loop's thread.
#pragma once

#include "mcp/session/connections.hpp"
#include "mcp/session/handshake.hpp"
#include "mcp/session/list_refresh.hpp"
#include "mcp/session/message_intake.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/session_context.hpp"
#include "mcp/session/session_timers.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace mcp {

class session_runner final : public std::enable_shared_from_this<session_runner> {
public:
    // Whoever lets go of it ends the server at once if it still runs: call stop() before and wait for session_state::stopped.
    // References outlive it. `name` is for the log.
    static std::shared_ptr<session_runner> make(
        net::loop& on,
        runner_settings settings,
        transport_factory make,
        runner_observer& observer,
        const core::logger& log,
        std::string name
    );

    session_runner(
        net::loop& on,
        runner_settings settings,
        transport_factory make,
        runner_observer& to,
        session_report notes
    );

    void begin() { happened({.kind = event_kind::begin}); }    // once
    void demand() { happened({.kind = event_kind::demand}); }  // somebody wants it
    void stop() { happened({.kind = event_kind::stop}); }

    // Works as stop(), but the server hears nothing of it, not even that its session is over.
    void stop_silently()
    {
        requests_.mute();
        silent_ = true;
        stop();
    }

    // Walks the lists now, unless a walk over all of them is under way; nothing unless it is ready or degraded. walked() reports
    // the end.
    void refresh() { happened({.kind = event_kind::refresh}); }

    // session_settings::walk from now on: if it differs, the lists are walked now.
    void set_walk(core::duration interval);

    // Walks the lists and keeps nothing of it. `then` is called once, perhaps before this returns; never if the runner goes. Fails
    // unless the session is ready or degraded; with session_crashed if that ends. Calls during a look share its answer.
    void look(std::function<void(const look_result&)> then) { walks_.look(std::move(then)); }

    // The look under way fails with upstream_timeout.
    void end_look();

    // See shared_channel::factory(): callers' messages over the session's connection.
    transport_factory lane() { return context_.lane.factory(); }

    session_state state() const noexcept { return context_.state.state(); }
    session_reason reason() const noexcept { return context_.state.reason(); }

    // Describes reason() for operators, also in words of the server. Empty: there is no description, or it is ready.
    const std::string& detail() const noexcept { return context_.notes.detail(); }

    // A session was ready once.
    bool has_begun() const noexcept { return latest() != nullptr; }

    // The latest attempt failed for a reason that does not pass by itself: there is no such program, or the server asks for credentials.
    bool needs_operator() const noexcept { return context_.notes.needs_operator(); }

    // Null: there was none yet. Kept while the session is gone.
    const std::shared_ptr<const server_lists>& latest() const noexcept { return walks_.latest(); }

    // Since when it is ready or degraded; nothing: it is not.
    std::optional<core::steady_time> ready_since() const noexcept { return ready_since_; }

    // When it is connected again, while it waits for that (backoff, failed).
    std::optional<core::steady_time> next_attempt() const noexcept;
    const runner_counts& counts() const noexcept { return context_.counts; }

    // The era that the server speaks, since the latest handshake, and before the first walk. Nothing: there was none yet.
    std::optional<era> spoken() const noexcept;

    // The latest handshake went over HTTP+SSE, since the server does not know streamable HTTP.
    bool fell_back() const noexcept { return handshake_.fell_back(); }

    // Bytes that wait until the server accepts them.
    std::size_t queued() const noexcept;

private:
    void happened(session_event event);
    void carry_out(const session_action& action);
    void keep_probe(bool end_session);
    void drop_connection();
    void close(bool end_session);
    void arm(timer_name name, core::duration after);
    void fire(timer_name name);
    void report(const session_action& action);
    void end_all();
    void abandon();
    core::result<> send_for_caller(outgoing message);

    // These functions are in session_messages.cpp.
    class ear;

    void shake_hands(const session_action& action);
    void open_stream();
    void ping();
    void cancel_ping();
    void forget();

    void connected(connection& from);
    template <class Messages>
    void hear_each(connection& from, const Messages& messages);
    void hear(connection& from, const message_intake::outcome& said);
    void fail(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says);
    void fail_unsent(std::uint64_t id, const core::error& why, bool late);
    void fail_probe(connection& probe, const core::error& why, std::optional<era> says);
    void lose(connection& from, const core::error& why);

    void ask_for_era(connection& probe);
    void tell_era(const connection& probe, std::optional<era> verdict, bool stands);
    void accept_from_probe(connection& probe, const message_intake::outcome& said);
    void accept_notification(const message& notification);
    void accept_answer(const message_intake::outcome& said);
    void accept_pong(const message& answer);
    bool believes_move(purpose use) const;
    void leave_era(purpose use, era speaks, const std::string& said);

    std::unique_ptr<transport_observer> observe(connection& of);

    session_context context_;
    std::deque<session_event> waiting_;
    bool busy_ = false;
    std::mt19937_64 random_{std::random_device{}()};
    session_timers timers_;
    requests requests_;
    list_refresh walks_;
    handshake handshake_;
    message_intake intake_;
    std::uint64_t last_ping_ = 0;
    bool silent_ = false;
    bool lost_by_ping_ = false;  // the session was begun for a ping that was answered 404, and none was answered since
    connections connections_;    // after all that its observers refer to
    std::optional<session_action> last_report_;  // until every connection that was ended in order has closed
    std::optional<core::steady_time> ready_since_;
};

}  // namespace mcp
