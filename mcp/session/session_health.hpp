// The health of a session after its handshake: walks over the lists, the stream of notifications and pings decide whether it
// is ready or degraded. The table in session.cpp says in which states each handler is called. Pure.
#pragma once

#include "mcp/session/session_state.hpp"

#include <bitset>
#include <optional>

namespace mcp {

class session_health {
public:
    explicit session_health(const session_settings& settings)
        : settings_{settings}
    {
    }

    void set_walk(core::duration interval) noexcept { settings_.walk = interval; }

    // After the handshake: listens and walks.
    void begin(session_step& step, era spoken);

    // The walk and pings under way end with the session; its timers are the caller's.
    void end(session_step& step);

    // Since the first walk. Nothing: there was none yet.
    std::optional<core::steady_time> ready_since() const noexcept { return current_.ready_since; }

    void on_walk_done(session_step& step);
    void on_walk_failed(session_step& step);
    void on_walk_late(session_step& step);
    void on_list_changed(session_step& step);
    void on_debounced(session_step& step);
    void on_refresh(session_step& step);
    void on_refresh_asked(session_step& step);
    void on_stream_up(session_step& step);
    void on_stream_down(session_step& step);
    void on_stream_none(session_step& step);
    void on_listen(session_step& step);
    void ping(session_step& step);
    void on_ping_answered(session_step& step);

    // False: so many were missed in a row that the session is lost.
    bool on_pong_late(session_step& step);

private:
    enum trouble : std::uint8_t { no_pong, no_stream, no_lists };

    // The progress of one session.
    struct progress {
        std::optional<core::steady_time> ready_since;
        bool walking = false;
        bool changed = false;     // lists changed while they were walked
        bool listened = false;    // the stream of notifications stood once
        bool missed = false;      // what changed may not have been told: the next walk is a whole one
        bool pinged = false;      // an answer is out
        std::bitset<3> troubles;  // by `trouble`
        unsigned missed_pings = 0;
        unsigned stream_failures = 0;  // in a row
        unsigned walk_failures = 0;    // in a row
        unsigned changes = 0;          // walks in a row because lists had changed
        std::optional<core::steady_time> stream_since;
    };

    void walk(session_step& step, bool changed_only);
    void expect_walk(session_step& step);
    void retry_walk(session_step& step);
    void end_walk(session_step& step);
    core::duration debounce(core::steady_time now);
    void settle(session_step& step) const;

    session_settings settings_;
    era spoken_ = era::legacy;
    progress current_;
    bool partial_ = false;           // the latest walk is over the lists that have changed
    core::steady_time walked_at_{};  // all lists, the last time that each was there
    core::steady_time changed_at_{};
};

}  // namespace mcp
