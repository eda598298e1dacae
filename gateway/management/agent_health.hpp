// How an agent is, as far as the gateway knows from its card, its session and its calls: nothing is asked of anybody for it.
// Pure; any thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/call_book.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/sessions/session_facts.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/telemetry/metric_family.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace gateway::management {

enum class health : std::uint8_t {
    healthy,
    degraded,   // it is served, but something about it has failed
    unhealthy,  // it is not served, or not as it should be
    unknown,    // nothing says so or otherwise, such as a session that nobody has asked for
    contained,  // an operator has stopped it
};

inline constexpr std::array
    healths{health::healthy, health::degraded, health::unhealthy, health::unknown, health::contained};

std::string_view name(health h) noexcept;

struct judgement {
    health status = health::unknown;
    // Why; empty: healthy. A code of core::errc (agent_contained, if it is), a session's mcp::session_reason, or `disabled`, `unusable` (as stored),
    // `inline_card` (no call has worked yet, and there is nothing else to go by), `not_fetched`, `card_stale`, `calls_failing`.
    std::string_view reason;
};

// Null: it has no card state (it is not served), it has no session.
judgement judge(
    const registered_agent& agent,
    const cards::card_status* card,
    const sessions::session_facts* session,
    const call_facts& calls,
    core::steady_time now
);

// The families of the metrics page about agents as such: what they are, how they are, and how calls reach their endpoints.

// References outlive the page. On the control loop's thread.
struct agent_planes {
    const registry& agents;
    const cards::card_plane& cards;
    const sessions::session_plane& sessions;
    const call_book& calls;
};

void collect_agents(telemetry::metrics& into, const agent_planes& of);

}  // namespace gateway::management
