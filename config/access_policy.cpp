#include "config/access_policy.hpp"

#include "config/access_values.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace config {
namespace {

using core::access_rule;

constexpr std::string_view expected_policy =
    "anyone, authenticated, nobody, a map of conditions, or a list of such maps";
constexpr std::string_view expected_rule = "a map of conditions such as {scopes: [words:call]}";

std::optional<access_rule> read_rule(const field& f, decision about, problem_list& problems)
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
        problems.add(methods->at, methods->path, "is about calls; expected it below `call`");
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
