// What each event does to a session: the table of session_state.cpp, row by row. Internal to mcp.
#pragma once

#include "mcp/session/session_state.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace mcp {

constexpr std::size_t index_of(timer_name timer) noexcept
{
    return static_cast<std::size_t>(timer);
}

// One event on its way through the table. Of a handler's row: the states and the event it is for.
struct session_rules {
    session& s;
    const session_event& event;
    core::steady_time now;
    double random;
    std::vector<session_action> out;

    using trouble = session::trouble;
    using after_stop = session::after_stop;

    session_action& act(action_kind kind);
    void arm(timer_name timer, core::duration after);
    void disarm(timer_name timer);
    void disarm_all();
    void enter(session_state state, session_reason why = session_reason::none);
    void end_work();
    void close(bool end_session);

    // Attempts and losses.
    void begin_attempt();
    void connect();
    void on_probed();
    void keep_probe(session_reason why);
    core::duration patience() const noexcept;
    void on_silence();
    void learn(era verdict);
    void on_start_timeout();
    void wait_for_probe();
    void on_connect_failed();
    void on_connected();
    void shake_hands(session_reason why);
    void shake_hands_again();
    void on_handshake_done();
    void on_handshake_refused();
    void on_nobody_there();
    void on_lost();
    void lose(session_reason why, bool crash);
    void on_backoff_over();
    void on_session_lost();
    void on_unreachable();

    // Walks and health (session_health.cpp).
    void walk(bool changed_only);
    void on_walk_done();
    void on_first_walk_failed();
    void on_first_walk_late();
    void on_walk_failed();
    void retry_walk();
    void expect_walk();
    void on_walk_late();
    void walk_over();
    core::duration debounce();
    void on_list_changed();
    void on_debounced();
    void on_refresh();
    void on_refresh_asked();
    void set(trouble which, bool present);
    void settle();
    void on_stream_up();
    void on_stream_down();
    void on_stream_none();
    void on_listen();
    void ping();
    void on_ping_answered();
    void on_pong_late();
    void expect_old_verdict();
    void on_verdict_old();
    void on_probed_again();
    void on_probe_late();
    void probed_again(std::optional<era> verdict);

    // The operator.
    void on_begin();
    void on_restart();
    void on_enable();
    void on_stop();
    void on_other_goal();
    void on_drained();
    void leave();
    void on_gone_while_stopping();
    void on_closed();
    void rest();
};

}  // namespace mcp
