// Facts of a session that operators see, and the meaning of its state for requests for its card. Pure.
#pragma once

#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "mcp/session/session_context.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gateway::sessions {

// How a session was lost, or could not begin.
struct session_failure {
    ::mcp::session_reason reason = ::mcp::session_reason::none;
    std::string detail;  // as session_facts::detail
    core::steady_time at{};
};

struct session_facts {
    core::mcp_transport transport = core::mcp_transport::unsupported;
    ::mcp::session_state state = ::mcp::session_state::configured;
    ::mcp::session_reason reason = ::mcp::session_reason::none;
    std::string detail;           // what that is about, a server's own words among it, cut: for operators only
    bool begun = false;           // it was ready once
    bool needs_operator = false;  // it does not begin until somebody changes something
    std::string era;              // empty: not known yet
    std::string version;          // of MCP, negotiated; empty: not known yet
    std::string server_name;      // in its own words, cut; empty: not known yet
    std::string server_version;
    ::mcp::left_out_items left_out;  // of what it lists; for operators only
    std::optional<core::steady_time> ready_since;
    ::mcp::runner_counts counts;
    std::size_t queued = 0;  // bytes that the server has not taken
    // How often it was lost or could not begin, by why.
    std::array<std::uint64_t, ::mcp::session_reasons> losses{};
    std::optional<session_failure> failure;         // the latest; it stays when the session is well again
    std::optional<core::steady_time> next_attempt;  // nothing: none is waited for
};

// Connections that were made after the first.
inline std::uint64_t restarts_of(const session_facts& session) noexcept
{
    return session.counts.connections > 0 ? session.counts.connections - 1 : 0;
}

struct session_standing {
    ::mcp::session_state state = ::mcp::session_state::configured;
    bool begun = false;           // it was ready once
    bool needs_operator = false;  // what the latest attempt failed with does not pass by itself
};

// Why there is no card while a session stands like that (session_not_started, session_not_ready, session_failed,
// session_crashed, session_misconfigured, draining); nothing: there is one.
std::optional<core::error> trouble_of(const session_standing& now);

// The session was lost or could not begin, and another attempt comes by itself.
bool is_down(core::errc trouble) noexcept;

}  // namespace gateway::sessions
