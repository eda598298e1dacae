#include "config/access_warnings.hpp"

#include "config/access_tokens.hpp"
#include "config/access_values.hpp"
#include "core/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace config {
namespace {

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

// `at`: of the key of the i-th rule.
void warn_of_policy(const field& at, std::size_t i, const policy_key& key, const settings& all, problem_list& problems)
{
    const auto& rules = all.access.rules;
    for (std::size_t before = 0; before < i; ++before) {
        if (is_for_all(rules[before]) && rules[before].*key.policy) {
            problems.warn(
                at.at,
                at.path,
                "never counts: access.rules[" + std::to_string(before) +
                    "] decides for all agents; expected it in front of that"
            );
            return;
        }
    }
    const auto& policy = rules[i].*key.policy;
    const auto claim = policy ? misplaced_claim(*policy, all.access) : std::string{};
    if (!claim.empty()) {
        problems.warn(at.at, at.path, claim);
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
    // Without one in the file, agents come from elsewhere.
    if (!agents || all.agents.empty()) {
        return;
    }
    for (const auto& each : read_elements(*agents, "", emptiness::refused, problems)) {
        if (!fits_some(each.value->text, all.agents)) {
            problems.warn(
                each.at,
                each.path,
                "fits no agent of this file; expected the id of one, unless it is created later"
            );
        }
    }
}

}  // namespace

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
            f.at,
            f.path,
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

}  // namespace config
