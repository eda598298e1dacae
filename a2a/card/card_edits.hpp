// Changes that operators make to the cards of agents: overlays, patches, and which skills callers see. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// Puts `overlay`, an object and a part of a card, over `card`. Its members replace those of the card, lists and objects as a
// whole; but `capabilities` are merged at every depth, and to `securitySchemes` those of the overlay are added, which replace
// schemes of the same name. Null removes a member.
void apply_overlay(core::json& card, const core::json& overlay);

// Fails with extended_card_incomplete if overlays have taken away the card's name or description.
core::result<> check_overlaid(const core::json& card);

// Puts `patch` over a repaired card, whatever its generation.
void apply_patch(core::json& card, const core::boxed<core::card_patch>& patch);

// The reader of a card.
struct skill_audience {
    const std::vector<core::skill_rule>& rules;  // of the agent
    const std::vector<std::string>* scopes;  // of the principal whose extended card it is; null: it is a public card
};

// Whether the first rule that fits says so; a skill that none fits is for everyone.
bool is_visible(std::string_view skill_id, const skill_audience& audience);

// Removes the other skills, of cards in it (`agentCard`) too, and where another spelling of `skills` is read as that. With
// rules, what has no `id` in text is removed: a repaired card has none of that kind.
void keep_visible_skills(core::json& card, const skill_audience& audience);

}  // namespace a2a
