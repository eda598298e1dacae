#include "config/access.hpp"

#include "config/access_members.hpp"
#include "config/access_policy.hpp"
#include "config/access_providers.hpp"
#include "config/access_table.hpp"
#include "config/access_values.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_access = "a map with providers, rules and open, or the word open";
constexpr std::string_view expected_pattern = "an agent's id, in which * is any text";

bool is_pattern(std::string_view text)
{
    constexpr std::size_t longest = 128;
    return text.size() <= longest && std::ranges::all_of(text, [](char c) {
               return core::is_letter(c) || core::is_digit(c) || c == '.' || c == '_' || c == '-' || c == '*';
           });
}

std::vector<std::string> read_patterns(const field& f, problem_list& problems)
{
    std::vector<std::string> patterns;
    for (const auto& element : read_elements(f, expected_pattern, emptiness::refused, problems)) {
        auto text = read_line(element, expected_pattern, problems);
        if (text && !is_pattern(*text)) {
            refuse(element, "is not a pattern of agents' ids", expected_pattern, problems);
        } else if (text) {
            patterns.push_back(std::move(*text));
        }
    }
    return patterns;
}

std::optional<core::access_policy>
read_known_policy(const field& f, decision about, const core::access_settings& access, problem_list& problems)
{
    auto policy = read_policy(f, about, problems);
    const auto missing = policy && !access.providers.empty() ? missing_provider(*policy, access.providers) : "";
    if (!missing.empty()) {
        problems.add(f.at, f.path, '"' + std::string{missing} + "\" " + std::string{no_such_provider});
    }
    return policy;
}

std::optional<core::access_default>
read_rule(const field& f, const core::access_settings& access, problem_list& problems)
{
    constexpr std::string_view expected = "a map with agents, discover and call";
    const auto* map = read_given_map(f, expected, problems);
    if (map == nullptr) {
        return {};
    }
    const access_members given{f, *map, access_map::agents_rule, problems};
    const auto* discover = given.find("discover");
    const auto* call = given.find("call");
    core::access_default rule;
    if (const auto* agents = given.find("agents")) {
        rule.agents = read_patterns(*agents, problems);
    }
    if (discover != nullptr) {
        rule.discover = read_known_policy(*discover, decision::discover, access, problems);
    }
    if (call != nullptr) {
        rule.call = read_known_policy(*call, decision::call, access, problems);
    }
    if (discover == nullptr && call == nullptr) {
        refuse(f, "has neither discover nor call", "at least one of the two", problems);
    }
    return rule;
}

// Those that may be named are known already.
std::vector<core::access_default>
read_rules(const field& f, const core::access_settings& access, problem_list& problems)
{
    std::vector<core::access_default> rules;
    const auto list = read_list(f, "a list of rules", problems);
    if (list.size() > most_agent_rules) {
        problems.add(f.at, f.path, "has more than " + std::to_string(most_agent_rules) + " rules");
        return rules;
    }
    for (const auto& each : list) {
        if (auto rule = read_rule(each, access, problems)) {
            rules.push_back(std::move(*rule));
        }
    }
    return rules;
}

json shown_rule(const core::access_default& rule)
{
    auto shown = json::object();
    if (!rule.agents.empty()) {
        shown["agents"] = rule.agents;
    }
    if (rule.discover) {
        shown["discover"] = shown_policy(*rule.discover);
    }
    if (rule.call) {
        shown["call"] = shown_policy(*rule.call);
    }
    return shown;
}

}  // namespace

core::access_settings
read_access(const field& f, const secret_reader& secrets, const tls_checks& tls, problem_list& problems)
{
    core::access_settings access;
    if (f.value->is == node::kind::scalar) {
        const auto* word = read_text(f, expected_access, problems);
        access.open = word != nullptr && *word == "open";
        if (word != nullptr && !access.open) {
            refuse(f, word->empty() ? "is empty" : "is not `open`", expected_access, problems);
        }
        return access;
    }
    const auto* map = read_map(f, expected_access, problems);
    if (map == nullptr) {
        return access;
    }
    const access_members given{f, *map, access_map::access, problems};
    const auto before = problems.size();
    if (const auto* providers = given.find("providers")) {
        access.providers = read_providers(*providers, secrets, tls, problems);
    }
    if (const auto* rules = given.find("rules")) {
        static const core::access_settings unknown;  // a provider that cannot be read can be named all the same
        access.rules = read_rules(*rules, problems.size() == before ? access : unknown, problems);
    }
    if (const auto* open = given.find("open")) {
        access.open = read_switch(*open, problems).value_or(false);
    }
    return access;
}

json shown_access(const core::access_settings& access)
{
    auto providers = json::array();
    for (const auto& each : access.providers) {
        providers.push_back(shown_provider(each));
    }
    auto rules = json::array();
    for (const auto& each : access.rules) {
        rules.push_back(shown_rule(each));
    }
    return {{"open", access.open}, {"providers", std::move(providers)}, {"rules", std::move(rules)}};
}

}  // namespace config
