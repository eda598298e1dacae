// Changes that operators make to the cards of agents. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

namespace a2a {

// Puts `overlay`, an object and a part of a card, over `card`. Its members replace those of the card, lists and objects as a
// whole; but `capabilities` are merged at every depth, and to `securitySchemes` those of the overlay are added, which replace
// schemes of the same name. Null removes a member.
void apply_overlay(core::json& card, const core::json& overlay);

// Fails with extended_card_incomplete if overlays have taken away the card's name or description.
core::result<> check_overlaid(const core::json& card);

// Puts `patch` over a repaired card, whatever its generation.
void apply_patch(core::json& card, const core::boxed<core::card_patch>& patch);

}  // namespace a2a
