#include "a2a/card/card_skills.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "core/pattern.hpp"

#include <algorithm>

namespace a2a {

using core::json;

bool is_visible(std::string_view skill_id, const skill_audience& audience)
{
    const auto rule = std::ranges::find_if(audience.rules, [&](const core::skill_rule& each) {
        return core::fits(each.id, skill_id);
    });
    if (rule == audience.rules.end() || rule->visibility == core::skill_visibility::everyone) {
        return true;
    }
    const auto* const scopes = audience.scopes;
    return scopes != nullptr && std::ranges::all_of(rule->required_scopes, [&](const std::string& each) {
               return std::ranges::find(*scopes, each) != scopes->end();
           });
}

void keep_visible_skills(json& card, const skill_audience& audience)
{
    if (audience.rules.empty() || !card.is_object()) {
        return;
    }
    for (auto& [name, value] : card.get_ref<json::object_t&>()) {
        if (same_name(name, "agentCard")) {
            keep_visible_skills(value, audience);
        } else if (same_name(name, "skills")) {
            auto* const skills = value.get_ptr<json::array_t*>();
            if (skills == nullptr) {
                value = json::array();
                continue;
            }
            std::erase_if(*skills, [&](const json& skill) {
                const auto* const id = core::string_member(skill, "id");
                return id == nullptr || !is_visible(*id, audience);
            });
        }
    }
}

}  // namespace a2a
