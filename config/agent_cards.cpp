#include "config/agent_cards.hpp"

#include "config/access.hpp"
#include "config/access_values.hpp"
#include "config/choice.hpp"
#include "config/json_value.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_id = "the id of a skill or tool, in which * is any text";

// The elements of a list of maps, with `most` of them. Nothing: it is reported.
std::vector<field> read_maps(const field& f, std::string_view expected, std::size_t most, problem_list& problems)
{
    auto elements = read_list(f, expected, problems);
    if (elements.size() > most) {
        problems.add(f, "has more than " + std::to_string(most) + " elements");
        elements.clear();
    }
    return elements;
}

std::string read_id(const field& map, const members& given, problem_list& problems)
{
    const auto* id = find_field(given, "id");
    if (id == nullptr) {
        problems.add(map, "has no id; expected " + std::string{expected_id});
        return {};
    }
    return read_short_text(*id, expected_id, problems).value_or("");
}

std::optional<core::skill_rule> read_skill_rule(const field& f, problem_list& problems)
{
    const auto* map = read_given_map(f, "a map with id, visibility and required_scopes", problems);
    if (map == nullptr) {
        return {};
    }
    const auto given = read_members(*map, f.path, {"id", "visibility", "required_scopes"}, problems);
    core::skill_rule rule;
    rule.id = read_id(f, given, problems);
    if (const auto* visibility = find_field(given, "visibility")) {
        rule.visibility = read_choice<core::skill_visibility>(*visibility, problems).value_or(rule.visibility);
    }
    if (const auto* scopes = find_field(given, "required_scopes")) {
        rule.required_scopes = read_scopes(*scopes, emptiness::allowed, problems);
        if (!rule.required_scopes.empty() && rule.visibility == core::skill_visibility::everyone) {
            problems.add(*scopes, "stands without `visibility: extended`; expected both");
        }
    }
    return rule;
}

constexpr std::string_view expected_part = "a part of a card, such as {documentationUrl: https://docs.example}";

// Nothing: it is reported.
std::optional<node> read_part_file(const field& f, const secret_reader& files, problem_list& problems)
{
    constexpr std::string_view expected = "the path of a file with a part of a card";
    const auto text = read_named_file(f, expected, files, problems);
    if (!text) {
        return {};
    }
    problem_list inside{""};
    auto part = parse_document(*text, inside);
    if (!part || !inside.empty() || part->is != node::kind::map) {
        problems.add(f, "names a file that is not one map in JSON or YAML; expected " + std::string{expected_part});
        return {};
    }
    return part;
}

std::string read_part(const field& f, const node& part, problem_list& problems)
{
    auto text = core::to_text(to_json(part));
    if (text.size() > longest_overlay) {
        problems.add(f, "is longer than " + std::to_string(longest_overlay) + " bytes as JSON");
        return {};
    }
    return text;
}

std::optional<core::card_overlay> read_overlay(const field& f, const secret_reader& files, problem_list& problems)
{
    const auto* map = read_given_map(f, "a map with when, and card or file", problems);
    if (map == nullptr) {
        return {};
    }
    const auto given = read_members(*map, f.path, {"when", "card", "file"}, problems);
    core::card_overlay overlay;
    if (const auto* when = find_field(given, "when")) {
        overlay.when = read_policy(*when, decision::discover, problems).value_or(core::access_policy{});
    } else {
        problems.add(f, "has no when; expected a policy such as {groups: [gold]}, or authenticated");
    }
    const auto* card = find_field(given, "card");
    const auto* file = find_field(given, "file");
    if ((card == nullptr) == (file == nullptr)) {
        problems.add(
            f,
            card == nullptr ? "has neither a card nor a file; expected one of the two"
                            : "has a card and a file; expected one of the two"
        );
    } else if (card != nullptr) {
        if (const auto* part = read_given_map(*card, expected_part, problems)) {
            overlay.card = read_part(*card, *part, problems);
        }
    } else if (const auto part = read_part_file(*file, files, problems)) {
        overlay.card = read_part(*file, *part, problems);
    }
    return overlay;
}

std::string read_description(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "text that describes the agent";
    const auto* text = read_text(f, expected, problems);
    if (text == nullptr) {
        return {};
    }
    if (text->empty() || text->size() > longest_description) {
        refuse(f, text->empty() ? "is empty" : "is longer than 16KiB", expected, problems);
        return {};
    }
    return *text;
}

void read_provider(const field& f, core::card_patch& into, problem_list& problems)
{
    const auto* map = read_given_map(f, "a map with organization and url", problems);
    if (map == nullptr) {
        return;
    }
    const auto given = read_members(*map, f.path, {"organization", "url"}, problems);
    const auto* organization = find_field(given, "organization");
    const auto* url = find_field(given, "url");
    if (organization == nullptr || url == nullptr) {
        problems.add(f, "needs an organization and a url; expected both");
        return;
    }
    into.provider_organization = read_short_text(*organization, "the name of an organization", problems).value_or("");
    into.provider_url = read_url(*url, problems).value_or("");
}

std::optional<core::skill_tags> read_skill_tags(const field& f, problem_list& problems)
{
    const auto* map = read_given_map(f, "a map with id and tags", problems);
    if (map == nullptr) {
        return {};
    }
    const auto given = read_members(*map, f.path, {"id", "tags"}, problems);
    core::skill_tags skill{.id = read_id(f, given, problems), .tags = {}};
    if (const auto* tags = find_field(given, "tags")) {
        skill.tags = read_texts(*tags, emptiness::refused, problems);
    } else {
        problems.add(f, "has no tags; expected a list of texts");
    }
    return skill;
}

}  // namespace

std::vector<core::skill_rule> read_skill_rules(const field& f, problem_list& problems)
{
    std::vector<core::skill_rule> rules;
    for (const auto& each : read_maps(f, "a list of maps with an id", most_skill_rules, problems)) {
        if (auto rule = read_skill_rule(each, problems)) {
            rules.push_back(std::move(*rule));
        }
    }
    return rules;
}

std::vector<core::card_overlay> read_overlays(const field& f, const secret_reader& files, problem_list& problems)
{
    std::vector<core::card_overlay> overlays;
    for (const auto& each : read_maps(f, "a list of maps with when and card", most_overlays, problems)) {
        if (auto overlay = read_overlay(each, files, problems)) {
            overlays.push_back(std::move(*overlay));
        }
    }
    return overlays;
}

core::boxed<core::card_patch> read_card_patch(const field& f, problem_list& problems)
{
    core::card_patch patch;
    const auto* map = read_map(f, "a map with description, documentationUrl, provider and skills", problems);
    if (map == nullptr) {
        return {};
    }
    const auto given = read_members(*map, f.path, {"description", "documentationUrl", "provider", "skills"}, problems);
    if (const auto* description = find_field(given, "description")) {
        patch.description = read_description(*description, problems);
    }
    if (const auto* url = find_field(given, "documentationUrl")) {
        patch.documentation_url = read_url(*url, problems).value_or("");
    }
    if (const auto* provider = find_field(given, "provider")) {
        read_provider(*provider, patch, problems);
    }
    if (const auto* skills = find_field(given, "skills")) {
        for (const auto& each : read_maps(*skills, "a list of maps with id and tags", most_skill_rules, problems)) {
            if (auto skill = read_skill_tags(each, problems)) {
                patch.skills.push_back(std::move(*skill));
            }
        }
    }
    return patch == core::card_patch{} ? core::boxed<core::card_patch>{} : core::boxed{std::move(patch)};
}

json shown_skill_rules(const std::vector<core::skill_rule>& rules)
{
    auto shown = json::array();
    for (const auto& rule : rules) {
        json each{{"id", rule.id}, {"visibility", core::name(rule.visibility)}};
        if (!rule.required_scopes.empty()) {
            each["required_scopes"] = rule.required_scopes;
        }
        shown.push_back(std::move(each));
    }
    return shown;
}

json shown_overlays(const std::vector<core::card_overlay>& overlays)
{
    auto shown = json::array();
    for (const auto& overlay : overlays) {
        const auto card = core::parse_json(overlay.card);
        shown.push_back({{"when", shown_policy(overlay.when)}, {"card", card ? *card : json::object()}});
    }
    return shown;
}

json shown_card_patch(const core::card_patch& patch)
{
    json shown;
    if (!patch.description.empty()) {
        shown["description"] = patch.description;
    }
    if (!patch.documentation_url.empty()) {
        shown["documentationUrl"] = patch.documentation_url;
    }
    if (!patch.provider_organization.empty()) {
        shown["provider"] = {{"organization", patch.provider_organization}, {"url", patch.provider_url}};
    }
    for (const auto& skill : patch.skills) {
        shown["skills"].push_back({{"id", skill.id}, {"tags", skill.tags}});
    }
    return shown;
}

}  // namespace config
