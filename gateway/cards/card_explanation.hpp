// Changes that the gateway makes to a card, and why. Pure; any thread.
#pragma once

#include "core/json/json.hpp"

#include <cstddef>

namespace gateway::cards {

// One card on its way to callers. What is null is not there.
struct card_stages {
    const core::json& raw;       // as the agent wrote it
    const core::json& repaired;  // as its version wants it
    const core::json& prepared;  // with the gateway's addresses and the operator's changes, in the version of the agent
    const core::json& served;    // in the version of the caller, perhaps signed
};

inline constexpr std::size_t most_changes = 1000;         // further ones are left out
inline constexpr std::size_t longest_shown_value = 2048;  // bytes of `from` and `to`; longer ones are left out

// The differences between the raw and the served card, a list of {op, path, why, from, to}. `path` is a JSON Pointer into the served
// card, of what was removed into the raw one. Objects with an `id` are compared by it, other parts of lists by their place. `why`:
//   rewritten   an address, or what the operator's configuration replaces
//   repaired    the version of the card wants it otherwise
//   translated  the caller's version says it so
//   added       by the gateway, or by the operator's configuration
//   dropped     callers do not get it, or their version cannot say it
//   signature   the agent's does not hold for a changed card; the gateway has its own
core::json explain_card(const card_stages& stages);

}  // namespace gateway::cards
