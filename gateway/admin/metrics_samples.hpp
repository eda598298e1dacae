// What the planes of the control loop know of an agent, as the metrics page shows it. On the control loop's thread.
#pragma once

#include "gateway/access/credential_verifier.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/call_book.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/telemetry/metrics_page.hpp"
#include "gateway/tokens/token_plane.hpp"
#include "gateway/wiring/caller_sessions.hpp"

#include <string>
#include <vector>

namespace gateway::admin {

// How old the keys are that providers' tokens are checked with.
std::vector<telemetry::key_set_sample> samples_of(const std::vector<access::provider_key_set>& key_sets);

// What the gateway delivers of push notifications.
telemetry::push_sample sample_of(const push::push_facts& facts);

struct agent_planes {
    const management::registry& agents;
    const cards::card_plane& cards;
    const sessions::session_plane& sessions;
    const tokens::token_plane& tokens;
    const wiring::caller_sessions& callers;
    const management::call_book& calls;
    const push::push_plane& push;
};

// That part alone, if the agent has it; never what the loops have counted.
telemetry::plane_samples sample_of(const agent_planes& planes, const std::string& id, telemetry::sample_part part);

// All parts that the agent has.
telemetry::plane_samples samples_of(const agent_planes& planes, const std::string& id);

}  // namespace gateway::admin
