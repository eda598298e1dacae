// Where callers reach an agent and what they are offered there, as its card says it. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/agent.hpp"

#include <string_view>

namespace gateway::cards {

// Whether calls of other dialects of A2A reach the agent.
bool is_bridged(const core::agent& agent) noexcept;

// `authenticates`: callers are principals (core::extended_card_of).
::a2a::public_address public_address_of(const core::agent& agent, std::string_view public_base, bool authenticates);

::a2a::upstream_address upstream_address_of(const core::agent& agent);

}  // namespace gateway::cards
