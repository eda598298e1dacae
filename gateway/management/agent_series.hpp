// The families of the metrics page about agents as such: what they are, how they are, and how calls reach their endpoints.
#pragma once

#include "gateway/cards/card_plane.hpp"
#include "gateway/management/call_book.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/telemetry/metric_family.hpp"

namespace gateway::management {

// References outlive the page. On the control loop's thread.
struct agent_planes {
    const registry& agents;
    const cards::card_plane& cards;
    const sessions::session_plane& sessions;
    const call_book& calls;
};

void collect_agents(telemetry::metrics& into, const agent_planes& of);

}  // namespace gateway::management
