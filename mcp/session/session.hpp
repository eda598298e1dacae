// The life of one session with an MCP server: which state it is in and what is to be done next. A table over events; no
// clock, no randomness, no I/O: the runner brings those and carries out the actions. One thread at a time.
#pragma once

#include "mcp/session/session_health.hpp"
#include "mcp/session/session_probe.hpp"
#include "mcp/session/session_state.hpp"

#include <deque>
#include <vector>

namespace mcp {

class session {
public:
    explicit session(const session_settings& settings);

    // The actions, in the order in which they are to be carried out. An event that says nothing in this state gives none.
    // `random` from [0, 1).
    std::vector<session_action> on(const session_event& event, core::steady_time now, double random);

    // session_settings::walk from the next walk on.
    void set_walk(core::duration interval) noexcept { health_.set_walk(interval); }

    session_state state() const noexcept { return step_.state(); }
    session_reason reason() const noexcept { return step_.reason(); }  // of the latest loss; of degraded, why
    std::uint64_t connection() const noexcept { return connection_; }
    std::uint64_t generation() const noexcept { return generation_; }  // one more with each handshake
    std::string_view version() const noexcept { return version_; }     // negotiated; empty: none yet

    // Whether what is answered to a list may say that the server speaks another era by now. Not in a session that has not stood for
    // steady_after, for its handshake has just said what is spoken; see also session_probe::may_move(). The codes of one era are free
    // for other uses in the other, so that one list would end the session again and again.
    bool may_have_moved(core::steady_time now) const noexcept
    {
        const auto since = health_.ready_since();
        return since && now - *since >= settings_.steady_after && probe_.may_move();
    }

private:
    struct row;
    static const row table[];

    bool stale(const session_event& event) const noexcept;
    void begin_attempt();
    void connect();
    void shake_hands(session_reason why);
    bool speaks_otherwise() const noexcept { return step_.event().verdict.value_or(spoken_) != spoken_; }
    void ask_again();
    void keep_probe(session_reason why);
    void wait_for_probe();
    void lose(session_reason why, bool crash);
    void end_work();
    void close(bool end_session);

    // The handlers of the table's rows.
    template <auto Handler>
    void health()
    {
        (health_.*Handler)(step_);
    }
    void on_begin();
    void on_stop();
    void on_closed();
    void on_probed();
    void on_probed_again();
    void on_silence();
    void on_connected();
    void on_connect_failed();
    void on_start_timeout();
    void on_handshake_done();
    void on_handshake_refused();
    void on_nobody_there();
    void on_walk_done();
    void on_unreachable();
    void on_pong_late();
    void on_session_lost();
    void on_lost();
    void on_backoff_over();

    session_settings settings_;
    session_step step_;
    session_probe probe_;
    session_health health_;
    std::uint64_t connection_ = 0;
    std::uint64_t generation_ = 0;
    std::string_view version_;
    era spoken_ = era::legacy;

    bool open_ = false;        // a probe or connection was asked for, and it has neither ended nor been closed
    bool handshaken_ = false;  // the server may hold a session
    bool closing_ = false;     // `close` was asked for, and `closed` has not come
    bool trial_ = false;       // the first attempt after `failed`
    unsigned failures_ = 0;    // in a row
    std::deque<core::steady_time> crashes_;
};

}  // namespace mcp
