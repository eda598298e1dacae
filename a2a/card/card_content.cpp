#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_security.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace a2a {
namespace {

using core::json;

constexpr std::array<std::string_view, 2> modes{"defaultInputModes", "defaultOutputModes"};
constexpr std::array<std::string_view, 2> demand_members{"security", "securityRequirements"};

bool says_something(const json& object, std::string_view key)
{
    const auto* text = core::string_member(object, key);
    return text != nullptr && !text->empty();
}

const char* flaw_of(const json& object, std::string_view key)
{
    const auto* value = core::member(object, key);
    if (value == nullptr) {
        return "missing";
    }
    return value->is_string() ? "empty" : "not a string";
}

// `value` if the member does not say anything; else the member stays.
void default_text(
    json& object,
    std::string_view key,
    const std::string& value,
    const std::string& path,
    problem_list& problems
)
{
    if (!says_something(object, key)) {
        problems.add(path + std::string{key}, flaw_of(object, key));
        object[std::string{key}] = value;
    }
}

// A list of strings that is never empty: one string alone becomes a list, what is not a string is dropped.
void default_texts(
    json& object,
    std::string_view key,
    json::array_t values,
    const std::string& path,
    problem_list& problems
)
{
    const auto here = path + std::string{key};
    const auto* found = core::member(object, key);
    if (found == nullptr) {
        problems.add(here, "missing");
        object[std::string{key}] = std::move(values);
        return;
    }
    if (says_something(object, key)) {
        problems.add(here, "a string, not an array");
        auto text = *found;
        object[std::string{key}] = json::array({std::move(text)});
        return;
    }
    const auto* list = found->get_ptr<const json::array_t*>();
    if (list == nullptr) {
        problems.add(here, "not an array");
        object[std::string{key}] = std::move(values);
        return;
    }
    if (std::ranges::any_of(*list, [](const json& item) { return !item.is_string(); })) {
        problems.add(here, "has items that are not strings");
        json::array_t kept;
        std::ranges::copy_if(*list, std::back_inserter(kept), [](const json& item) { return item.is_string(); });
        object[std::string{key}] = std::move(kept);
    }
    auto& kept = object[std::string{key}];
    if (kept.empty()) {
        problems.add(here, "empty");
        kept = std::move(values);
    }
}

// Leaves the first max_required_schemes of a requirement.
void shorten(json& demand)
{
    const auto wrapped = demand.find("schemes");
    auto& schemes = wrapped != demand.end() && wrapped->is_object() ? *wrapped : demand;
    auto& members = schemes.get_ref<json::object_t&>();
    members.erase(members.begin() + max_required_schemes, members.end());
}

// Bounds what a list of requirements may multiply to. Any requirement of a list will do, so that the list may be cut; but one
// that asks for less than was written would be a lie, so that one with too many schemes goes. What has no other keeps its
// first schemes: an empty list would say that no caller has to authenticate.
void repair_demands(json& object, std::string_view member, const std::string& path, problem_list& problems)
{
    const auto found = object.find(member);
    auto* demands = found == object.end() ? nullptr : found->get_ptr<json::array_t*>();
    if (demands == nullptr) {
        return;
    }
    const auto here = path + std::string{member};
    const auto too_many = [](const json& demand) {
        const auto* schemes = demanded_schemes(demand);
        return schemes != nullptr && schemes->size() > max_required_schemes;
    };
    for (std::size_t i = 0; i < demands->size() && i <= max_requirements; ++i) {
        if (too_many((*demands)[i])) {
            problems.add(indexed(here, i), "asks for more than 64 schemes at once");
        }
    }
    if (!demands->empty() && std::ranges::all_of(*demands, too_many)) {
        demands->resize(1);
        shorten(demands->front());
    }
    std::erase_if(*demands, too_many);
    if (demands->size() > max_requirements) {
        problems.add(indexed(here, max_requirements), "dropped with what follows: too many");
        demands->resize(max_requirements);
    }
}

// Lower case letters and digits, with single hyphens for everything between.
std::string id_from(const std::string& name, std::size_t index)
{
    std::string id;
    for (const char c : name) {
        if (core::is_letter(c) || core::is_digit(c)) {
            id += core::lower(c);
        } else if (!id.empty() && id.back() != '-') {
            id += '-';
        }
    }
    if (id.ends_with('-')) {
        id.pop_back();
    }
    return id.empty() ? "skill-" + std::to_string(index + 1) : id;
}

void repair_skill(json& skill, std::size_t index, const std::string& path, problem_list& problems)
{
    if (!says_something(skill, "id")) {
        default_text(skill, "id", id_from(core::text_member(skill, "name"), index), path, problems);
    }
    const auto id = skill["id"].get<std::string>();
    default_text(skill, "name", id, path, problems);
    default_text(skill, "description", skill["name"].get<std::string>(), path, problems);
    default_texts(skill, "tags", {id}, path, problems);
    for (const auto member : demand_members) {
        repair_demands(skill, member, path, problems);
    }
}

void repair_skills(json& card, problem_list& problems)
{
    const auto found = card.find("skills");
    auto* skills = found == card.end() ? nullptr : found->get_ptr<json::array_t*>();
    if (skills == nullptr) {
        problems.add("skills", found == card.end() ? "missing" : "not an array");
        card["skills"] = json::array();
        return;
    }
    if (skills->size() > max_card_skills) {
        problems.add("skills[" + std::to_string(max_card_skills) + "]", "dropped with what follows: too many");
        skills->resize(max_card_skills);
    }
    json::array_t kept;
    for (std::size_t i = 0; i < skills->size(); ++i) {
        auto& skill = (*skills)[i];
        const auto here = "skills[" + std::to_string(i) + "]";
        if (const auto* text = skill.get_ptr<const std::string*>(); text != nullptr && !text->empty()) {
            problems.add(here, "a string, not an object");
            skill = json::object({{"name", std::string{*text}}});
        }
        if (!skill.is_object()) {
            problems.add(here, "not an object");
            continue;
        }
        repair_skill(skill, i, here + ".", problems);
        kept.push_back(std::move(skill));
    }
    *skills = std::move(kept);
}

}  // namespace

void repair_content(json& card, card_generation generation, problem_list& problems)
{
    default_text(card, "description", card["name"].get<std::string>(), "", problems);
    if (const auto* version = core::member(card, "version"); version != nullptr && version->is_number()) {
        problems.add("version", "a number, not a string");
        card["version"] = core::to_text(*version);
    }
    default_text(card, "version", "0.0.0", "", problems);
    if (generation <= card_generation::v03 && !card.contains("protocolVersion")) {
        // Before 0.2.5 there was no such member: to give one to a card of that time would be a claim of ours.
        const bool old = generation != card_generation::v03;
        problems.add("protocolVersion", "missing", old ? problem_severity::warning : problem_severity::error);
        if (!old) {
            card["protocolVersion"] = "0.3.0";  // the specification's own default (types.ts of 0.3.0)
        }
    }
    if (const auto* capabilities = core::member(card, "capabilities");
        capabilities == nullptr || !capabilities->is_object()) {
        problems.add("capabilities", capabilities == nullptr ? "missing" : "not an object");
        card["capabilities"] = json::object();
    }
    for (const auto member : modes) {
        default_texts(card, member, {"text/plain", "application/json"}, "", problems);
    }
    for (const auto member : demand_members) {
        repair_demands(card, member, "", problems);
    }
    repair_skills(card, problems);
}

}  // namespace a2a
