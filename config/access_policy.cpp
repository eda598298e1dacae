#include "config/access_policy.hpp"

#include "config/access_table.hpp"
#include "config/access_values.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace config {
namespace {

using core::access_rule;

constexpr std::string_view expected_policy =
    "anyone, authenticated, nobody, a map of conditions, or a list of such maps";
constexpr std::string_view expected_rule = "a map of conditions such as {scopes: [words:call]}";

struct condition {
    std::string_view key;
    std::vector<std::string> access_rule::* list;
};

// All but the claims.
constexpr auto conditions = std::to_array<condition>(
    {{"principals", &access_rule::principals},
     {"providers", &access_rule::providers},
     {"scopes", &access_rule::scopes},
     {"groups", &access_rule::groups},
     {"tenants", &access_rule::tenants},
     {"methods", &access_rule::methods}}
);

std::optional<access_rule> read_rule(const field& f, decision about, problem_list& problems)
{
    const auto* map = read_given_map(f, expected_rule, problems);
    if (map == nullptr) {
        return {};
    }
    const auto given = read_members(*map, f.path, keys_of(access_map::policy_rule), problems);
    access_rule rule;
    for (const auto& each : conditions) {
        const auto* list = find_field(given, each.key);
        if (list == nullptr) {
            continue;
        }
        if (each.list == &access_rule::methods && about == decision::discover) {
            problems.add(list->at, list->path, "is about calls; expected it below `call`");
        } else if (each.list == &access_rule::scopes) {
            rule.scopes = read_scopes(*list, emptiness::refused, problems);
        } else {
            rule.*each.list = read_texts(*list, emptiness::refused, problems);
        }
    }
    if (const auto* claims = find_field(given, "claims")) {
        rule.claims = read_claims(*claims, emptiness::refused, problems);
    }
    return rule;
}

core::json shown_rule(const access_rule& rule)
{
    auto shown = core::json::object();
    for (const auto& each : conditions) {
        if (!(rule.*each.list).empty()) {
            shown[std::string{each.key}] = rule.*each.list;
        }
    }
    if (!rule.claims.empty()) {
        shown["claims"] = shown_claims(rule.claims);
    }
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

std::optional<core::access_policy> read_policy(const field& f, decision about, problem_list& problems)
{
    if (f.value->is == node::kind::scalar || f.value->is == node::kind::null) {
        return read_word(f, problems);
    }
    core::access_policy policy;
    if (f.value->is == node::kind::map) {
        auto rule = read_rule(f, about, problems);
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
        if (auto rule = read_rule(each, about, problems)) {
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
