#include "config/access.hpp"

#include "config/access_providers.hpp"
#include "config/access_tokens.hpp"
#include "config/access_values.hpp"
#include "core/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_access = "a map with providers, rules and open, or the word open";

void check_known(
    const field* f,
    const core::access_policy& policy,
    const access_members& given,
    const core::access_settings& access
)
{
    const auto missing = access.providers.empty() ? "" : missing_provider(policy, access.providers);
    if (!missing.empty()) {
        given.problems().add(*f, '"' + std::string{missing} + "\" " + std::string{no_such_provider});
    }
}

std::optional<core::access_default> read_rule(const field& f, const core::access_settings& access, const reading& with)
{
    const auto* map = read_given_map(f, "a map with agents, discover and call", with.problems);
    if (map == nullptr) {
        return {};
    }
    const access_members given{f, *map, access_map::agents_rule, with};
    core::access_default rule;
    given.read(rule);
    if (rule.discover) {
        check_known(given.find("discover"), *rule.discover, given, access);
    }
    if (rule.call) {
        check_known(given.find("call"), *rule.call, given, access);
    }
    if (given.find("discover") == nullptr && given.find("call") == nullptr) {
        refuse(f, "has neither discover nor call", "at least one of the two", with.problems);
    }
    return rule;
}

std::vector<core::access_default> read_rules(const field& f, const core::access_settings& access, const reading& with)
{
    std::vector<core::access_default> rules;
    const auto list = read_list(f, "a list of rules", with.problems);
    if (list.size() > most_agent_rules) {
        with.problems.add(f, "has more than " + std::to_string(most_agent_rules) + " rules");
        return rules;
    }
    for (const auto& each : list) {
        if (auto rule = read_rule(each, access, with)) {
            rules.push_back(std::move(*rule));
        }
    }
    return rules;
}

std::optional<field> member_of(const field& map, std::string_view key)
{
    for (std::size_t i = 0; i < map.value->keys.size(); ++i) {
        if (map.value->keys[i].text == key) {
            return member(*map.value, i, map.path);
        }
    }
    return std::nullopt;
}

bool is_for_all(const core::access_default& rule)
{
    return rule.agents.empty() || std::ranges::any_of(rule.agents, [](const std::string& pattern) {
               return pattern.find_first_not_of('*') == std::string::npos;
           });
}

bool fits_some(const std::string& pattern, const std::vector<core::agent>& agents)
{
    return std::ranges::any_of(agents, [&](const core::agent& each) { return core::fits(pattern, each.id); });
}

struct policy_key {
    std::string_view name;
    std::optional<core::access_policy> core::access_default::* policy;
};
constexpr std::array<policy_key, 2> policy_keys{
    {{"discover", &core::access_default::discover}, {"call", &core::access_default::call}}
};

// `at` is the key of the i-th rule.
void warn_of_policy(const field& at, std::size_t i, const policy_key& key, const settings& all, problem_list& problems)
{
    const auto& rules = all.access.rules;
    for (std::size_t before = 0; before < i; ++before) {
        if (is_for_all(rules[before]) && rules[before].*key.policy) {
            problems.warn(
                at,
                "never counts: access.rules[" + std::to_string(before) +
                    "] decides for all agents; expected it in front of that"
            );
            return;
        }
    }
    const auto& policy = rules[i].*key.policy;
    const auto claim = policy ? misplaced_claim(*policy, all.access) : std::string{};
    if (!claim.empty()) {
        problems.warn(at, claim);
    }
}

void warn_of_rule(const field& rule, std::size_t i, const settings& all, problem_list& problems)
{
    for (const auto& key : policy_keys) {
        if (const auto at = member_of(rule, key.name); at && all.access.rules[i].*key.policy) {
            warn_of_policy(*at, i, key, all, problems);
        }
    }
    const auto agents = member_of(rule, "agents");
    // A file without agents leaves them to the management API.
    if (!agents || all.agents.empty()) {
        return;
    }
    for (const auto& each : read_elements(*agents, "", emptiness::refused, problems)) {
        if (!fits_some(each.value->text, all.agents)) {
            problems.warn(each, "fits no agent of this file; expected the id of one, unless it is created later");
        }
    }
}

using core::access_rule;

constexpr std::string_view expected_policy =
    "anyone, authenticated, nobody, a map of conditions, or a list of such maps";
constexpr std::string_view expected_rule = "a map of conditions such as {scopes: [words:call]}";

std::optional<access_rule> read_policy_rule(const field& f, decision about, problem_list& problems)
{
    const auto* map = read_given_map(f, expected_rule, problems);
    if (map == nullptr) {
        return {};
    }
    const tls_checks none;
    const secret_reader no_files;
    const reading with{no_files, none, problems};
    const access_members given{f, *map, access_map::policy_rule, with};
    access_rule rule;
    given.read(rule);
    if (const auto* methods = given.find("methods"); methods != nullptr && about == decision::discover) {
        problems.add(*methods, "is about calls; expected it below `call`");
    }
    return rule;
}

core::json shown_rule(const access_rule& rule)
{
    auto shown = core::json::object();
    show_members(access_map::policy_rule, rule, shown);
    return shown;
}

std::optional<core::access_policy> read_word(const field& f, problem_list& problems)
{
    const auto* word = read_text(f, expected_policy, problems);
    if (word == nullptr) {
        return {};
    }
    if (*word == word_anyone) {
        return core::access_policy{true, {}};
    }
    if (*word == word_authenticated) {
        return core::access_policy{false, {access_rule{}}};
    }
    if (*word == word_nobody) {
        return core::access_policy{};
    }
    refuse(f, word->empty() ? "is empty" : "is not a policy", expected_policy, problems);
    return {};
}

}  // namespace

core::access_settings read_access(const field& f, const reading& with)
{
    auto& problems = with.problems;
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
    const access_members given{f, *map, access_map::access, with};
    const auto before = problems.size();
    if (const auto* providers = given.find("providers")) {
        access.providers = read_providers(*providers, with);
    }
    if (const auto* rules = given.find("rules")) {
        static const core::access_settings unknown;  // an unreadable provider may be named
        access.rules = read_rules(*rules, problems.size() == before ? access : unknown, with);
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
        show_members(access_map::agents_rule, each, rules.emplace_back(json::object()));
    }
    return {{"open", access.open}, {"providers", std::move(providers)}, {"rules", std::move(rules)}};
}

std::string misplaced_claim(const core::access_policy& policy, const core::access_settings& access)
{
    for (const auto& rule : policy.any_of) {
        const bool is_for_tokens = std::ranges::any_of(access.providers, [&](const core::access_provider& each) {
            return !issuers_of(each).empty() &&
                   (rule.providers.empty() || std::ranges::find(rule.providers, each.name) != rule.providers.end());
        });
        for (const auto& [name, value] : rule.claims) {
            const auto found = std::ranges::find(token_members, name, &token_member::name);
            if (is_for_tokens && found != token_members.end()) {
                return "asks for a claim \"" + name + "\", which principals of tokens have elsewhere; expected " +
                       std::string{found->condition};
            }
        }
    }
    return {};
}

void warn_of_access(const field& f, const settings& all, problem_list& problems)
{
    if (all.access.providers.empty() && !all.access.open) {
        problems.warn(
            f,
            "has no provider, so that no caller needs a credential; expected providers, or `access: open`"
        );
        return;
    }
    const auto rules = member_of(f, "rules");
    const auto each = rules ? read_list(*rules, "", problems) : std::vector<field>{};
    for (std::size_t i = 0; i < each.size(); ++i) {
        warn_of_rule(each[i], i, all, problems);
    }
}

std::optional<core::access_policy> read_policy(const field& f, decision about, problem_list& problems)
{
    if (f.value->is == node::kind::scalar || f.value->is == node::kind::null) {
        return read_word(f, problems);
    }
    core::access_policy policy;
    if (f.value->is == node::kind::map) {
        auto rule = read_policy_rule(f, about, problems);
        if (!rule) {
            return {};
        }
        policy.any_of.push_back(std::move(*rule));
        return policy;
    }
    const auto rules = read_list(f, expected_policy, problems);
    if (rules.empty() || rules.size() > most_rules) {
        refuse(
            f,
            rules.empty() ? "is empty" : "has more than " + std::to_string(most_rules) + " rules",
            rules.empty() ? "nobody, or at least one map of conditions" : "fewer",
            problems
        );
        return {};
    }
    for (const auto& each : rules) {
        if (auto rule = read_policy_rule(each, about, problems)) {
            policy.any_of.push_back(std::move(*rule));
        }
    }
    return policy;
}

core::json shown_policy(const core::access_policy& policy)
{
    if (policy.anyone || policy.any_of.empty()) {
        return policy.anyone ? word_anyone : word_nobody;
    }
    if (policy.any_of.size() == 1) {
        const auto& only = policy.any_of.front();
        return only == access_rule{} ? core::json(word_authenticated) : shown_rule(only);
    }
    auto list = core::json::array();
    for (const auto& each : policy.any_of) {
        list.push_back(shown_rule(each));
    }
    return list;
}

std::string_view
missing_provider(const core::access_policy& policy, const std::vector<core::access_provider>& providers)
{
    for (const auto& rule : policy.any_of) {
        for (const auto& name : rule.providers) {
            if (std::ranges::find(providers, name, &core::access_provider::name) == providers.end()) {
                return name;
            }
        }
    }
    return {};
}

}  // namespace config
