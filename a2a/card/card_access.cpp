#include "a2a/card/card_access.hpp"

#include "a2a/card/card_security.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace a2a {
namespace {

using core::json;

constexpr std::string_view schemes_member = "securitySchemes";
constexpr std::string_view plain_member = "security";
constexpr std::string_view wrapped_member = "securityRequirements";

bool is_modern(card_generation generation)
{
    return generation == card_generation::v1;
}

void forget_own(json& object)
{
    for (const auto member : {plain_member, wrapped_member, schemes_member}) {
        object.erase(std::string{member});
    }
}

void forget_own_of_card(json& card)
{
    forget_own(card);
    if (const auto skills = card.find("skills"); skills != card.end() && skills->is_array()) {
        for (auto& skill : *skills) {
            if (skill.is_object()) {
                forget_own(skill);
            }
        }
    }
}

// The agent's own demands, in the form before 1.0; an empty list: none.
json own_demands(const json& card)
{
    for (const auto member : {plain_member, wrapped_member}) {
        if (const auto* const demands = core::member(card, member); demands != nullptr) {
            return plain_demands(*demands);
        }
    }
    return json::array();
}

std::string free_name(const std::string& wanted, const json& taken)
{
    auto name = wanted;
    for (unsigned number = 2; taken.contains(name); ++number) {
        name = wanted + '_' + std::to_string(number);
    }
    return name;
}

// Each alternative of the gateway with each of the agent.
json joined(const json& ours, const json& own)
{
    if (own.empty() || ours.empty()) {
        return ours.empty() ? own : ours;
    }
    auto all = json::array();
    for (const auto& one : ours) {
        for (const auto& other : own) {
            if (all.size() == max_requirements) {
                return all;
            }
            auto both = one;
            both.update(other);
            all.push_back(std::move(both));
        }
    }
    return all;
}

json in_form_of(json typed, card_generation generation)
{
    if (is_modern(generation)) {
        return wrapped_schemes(typed).schemes;
    }
    if (generation == card_generation::hybrid) {
        const auto wrapped = wrapped_schemes(typed).schemes;
        for (const auto& [name, scheme] : wrapped.items()) {
            typed[name].update(scheme);
        }
    }
    return typed;
}

json wrapped_demands(const json& demands)
{
    const scheme_split none;
    return demand_wrapper{none}.wrapped(demands);
}

// 0.1 knows words only: those of HTTP where there is one (RFC 9110 section 11.1), else the type.
json words_of(const json& schemes)
{
    auto words = json::array();
    for (const auto& scheme : schemes) {
        const auto* const http = core::string_member(scheme, "scheme");
        const auto* const type = core::string_member(scheme, "type");
        json word = http != nullptr && *http == "bearer" ? "Bearer" : type == nullptr ? "" : *type;
        if (std::ranges::find(words, word) == words.end()) {
            words.push_back(std::move(word));
        }
    }
    return words;
}

void set_words(json& card, const card_access& access)
{
    const auto found = card.find("authentication");
    if (found == card.end() || access.passes) {
        return;
    }
    if (access.schemes.empty()) {
        card.erase("authentication");
    } else {
        *found = json{{"schemes", words_of(access.schemes)}};
    }
}

}  // namespace

void set_access(json& card, card_generation generation, const card_access& access)
{
    set_words(card, access);
    const auto own = access.passes ? own_demands(card) : json::array();
    if (!access.passes) {
        forget_own_of_card(card);
    }
    if (!access.schemes.empty()) {
        const std::string member{schemes_member};
        auto& schemes = card[member];
        if (!schemes.is_object()) {
            schemes = json::object();
        }
        auto ours = json::object();
        auto demands = json::array();
        for (const auto& [wanted, scheme] : access.schemes.items()) {
            const auto name = free_name(wanted, schemes);
            ours[name] = scheme;
            demands.push_back(json{{name, json::array()}});
        }
        schemes.update(in_form_of(std::move(ours), generation));
        if (access.optional) {
            demands.push_back(json::object());
        }
        const auto all = joined(demands, own);
        if (!is_modern(generation)) {
            card[std::string{plain_member}] = all;
        }
        if (is_modern(generation) || generation == card_generation::hybrid) {
            card[std::string{wrapped_member}] = wrapped_demands(all);
        }
    }
    if (const auto nested = card.find("agentCard"); nested != card.end() && nested->is_object()) {
        set_access(*nested, generation, access);
    }
}

}  // namespace a2a
