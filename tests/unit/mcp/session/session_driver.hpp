// Drives a session with events at chosen times and writes its actions down as words.
#pragma once

#include "mcp/session/session.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tests {

// "open", "arm start 30000", "report ready", "report backoff exited", "send_initialize 2025-11-25", ...
std::string words_of(const mcp::session_action& action);

class session_driver {
public:
    explicit session_driver(mcp::session_settings settings = {})
        : session{settings}
    {
    }

    // The actions as words, joined by ", ". What an event is about is filled in.
    std::string on(mcp::session_event event);
    std::string on(mcp::event_kind kind) { return on(mcp::session_event{.kind = kind}); }
    std::string fire(mcp::timer_name timer) { return on({.kind = mcp::event_kind::timer, .fired = timer}); }
    std::string handshake(std::string version)
    {
        return on({.kind = mcp::event_kind::handshake_done, .version = std::move(version)});
    }
    std::string probed(std::optional<mcp::era> verdict)
    {
        return on({.kind = mcp::event_kind::era_probed, .verdict = verdict});
    }

    void pass(core::duration time) { now += time; }

    // Through begin, probe (as legacy) or connection, handshake and first walk.
    void make_ready();

    mcp::session session;
    core::steady_time now{std::chrono::hours{1}};
    double random = 0;
};

}  // namespace tests
