#include "a2a/card/card_edits.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "core/pattern.hpp"

#include <algorithm>
#include <string_view>

namespace a2a {
namespace {

using core::json;

enum class depth : bool { one, every };

// Members of `part` into `into`; objects on both sides are merged at every depth.
void merge(json& into, const json& part, depth how)
{
    if (!into.is_object()) {
        into = json::object();
    }
    for (const auto& [name, value] : part.items()) {
        const auto found = into.find(name);
        if (value.is_null()) {
            into.erase(name);
        } else if (how == depth::every && value.is_object() && found != into.end() && found->is_object()) {
            merge(*found, value, how);
        } else {
            into[name] = value;
        }
    }
}

}  // namespace

void apply_overlay(json& card, const json& overlay)
{
    for (const auto& [name, value] : overlay.items()) {
        if (value.is_null()) {
            card.erase(name);
        } else if (name == "capabilities" && value.is_object()) {
            merge(card[name], value, depth::every);
        } else if (name == "securitySchemes" && value.is_object()) {
            merge(card[name], value, depth::one);
        } else {
            card[name] = value;
        }
    }
}

core::result<> check_overlaid(const json& card)
{
    for (const std::string_view member : {"name", "description"}) {
        const auto* const text = core::string_member(card, member);
        if (text == nullptr || text->find_first_not_of(" \t\r\n") == std::string::npos) {
            return core::gateway_error(
                core::errc::extended_card_incomplete,
                "overlays leave no " + std::string{member}
            );
        }
    }
    return {};
}

void apply_patch(json& card, const core::boxed<core::card_patch>& patch)
{
    if (!patch) {
        return;
    }
    if (!patch->description.empty()) {
        card["description"] = patch->description;
    }
    if (!patch->documentation_url.empty()) {
        card["documentationUrl"] = patch->documentation_url;
    }
    if (!patch->provider_organization.empty()) {
        card["provider"] = {{"organization", patch->provider_organization}, {"url", patch->provider_url}};
    }
    const auto skills = card.find("skills");
    if (patch->skills.empty() || skills == card.end() || !skills->is_array()) {
        return;
    }
    for (auto& skill : *skills) {
        const auto* const id = core::string_member(skill, "id");
        const auto rule = std::ranges::find_if(patch->skills, [&](const core::skill_tags& each) {
            return id != nullptr && core::fits(each.id, *id);
        });
        if (rule != patch->skills.end()) {
            skill["tags"] = rule->tags;
        }
    }
}

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
