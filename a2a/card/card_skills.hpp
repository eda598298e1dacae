// Which skills of a card callers see. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace a2a {

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
