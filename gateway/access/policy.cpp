#include "gateway/access/policy.hpp"

#include "core/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {
namespace {

template <class T>
bool contains(const std::vector<T>& values, const T& value)
{
    return std::ranges::find(values, value) != values.end();
}

bool names(const std::vector<std::string>& wanted, const std::string& value)
{
    return wanted.empty() || contains(wanted, value);
}

template <class T>
bool has_one_of(const std::vector<T>& wanted, const std::vector<T>& present)
{
    return wanted.empty() || std::ranges::any_of(wanted, [&](const T& each) { return contains(present, each); });
}

// Its methods and scopes apart.
bool is_about_others(const core::access_rule& rule, const core::principal& caller)
{
    return names(rule.principals, caller.id) && names(rule.providers, caller.provider) &&
           names(rule.tenants, caller.tenant) && has_one_of(rule.groups, caller.groups) &&
           has_one_of(rule.claims, caller.claims);
}

// The methods of the rule apart.
bool is_about(const core::access_rule& rule, const core::principal& caller)
{
    return has_one_of(rule.scopes, caller.scopes) && is_about_others(rule, caller);
}

void add_scopes(std::vector<std::string>& scopes, const core::access_rule& rule)
{
    for (const auto& each : rule.scopes) {
        if (!contains(scopes, each)) {
            scopes.push_back(each);
        }
    }
}

bool is_for_method(const core::access_rule& rule, std::string_view method)
{
    return rule.methods.empty() || std::ranges::find(rule.methods, method) != rule.methods.end();
}

constexpr std::size_t most_named = 5;  // of the values of one condition

// `the scope a`, or `one of the scopes a, b`.
std::string wanted(std::string_view noun, const std::vector<std::string>& values)
{
    std::string text = values.size() == 1 ? "the " : "one of the ";
    text.append(noun).append(values.size() == 1 ? " " : noun.ends_with('s') ? "es " : "s ");
    for (std::size_t i = 0; i < std::min(values.size(), most_named); ++i) {
        text.append(i == 0 ? "" : ", ").append(values[i]);
    }
    return values.size() > most_named ? text + " and " + std::to_string(values.size() - most_named) + " more" : text;
}

std::string wanted(std::string_view noun, const std::vector<core::claim>& claims)
{
    std::vector<std::string> texts;
    texts.reserve(claims.size());
    for (const auto& [name, value] : claims) {
        texts.emplace_back(name).append("=").append(value);
    }
    return wanted(noun, texts);
}

// Calls `lacks(noun, values)` for each condition of the rule that does not hold.
template <class Lacks>
void check_conditions(
    const core::access_rule& rule,
    const core::principal& caller,
    std::optional<std::string_view> method,
    Lacks lacks
)
{
    const auto check = [&](bool holds, std::string_view noun, const auto& values) {
        if (!holds) {
            lacks(noun, values);
        }
    };
    check(names(rule.providers, caller.provider), "provider", rule.providers);
    check(names(rule.principals, caller.id), "principal", rule.principals);
    check(names(rule.tenants, caller.tenant), "tenant", rule.tenants);
    check(has_one_of(rule.groups, caller.groups), "group", rule.groups);
    check(has_one_of(rule.claims, caller.claims), "claim", rule.claims);
    check(has_one_of(rule.scopes, caller.scopes), "scope", rule.scopes);
    check(!method || is_for_method(rule, *method), "method", rule.methods);
}

}  // namespace

bool allows(const core::access_policy& policy, const core::principal* caller, std::string_view method)
{
    if (policy.anyone) {
        return true;
    }
    return caller != nullptr && std::ranges::any_of(policy.any_of, [&](const auto& rule) {
               return is_for_method(rule, method) && is_about(rule, *caller);
           });
}

bool allows_some_method(const core::access_policy& policy, const core::principal* caller)
{
    if (policy.anyone) {
        return true;
    }
    return caller != nullptr &&
           std::ranges::any_of(policy.any_of, [&](const auto& rule) { return is_about(rule, *caller); });
}

std::vector<std::string> scopes_of(const core::access_policy& policy)
{
    std::vector<std::string> scopes;
    for (const auto& rule : policy.any_of) {
        if (!policy.anyone) {
            add_scopes(scopes, rule);
        }
    }
    return scopes;
}

std::vector<std::string>
missing_scopes(const core::access_policy& policy, const core::principal& caller, std::optional<std::string_view> method)
{
    std::vector<std::string> scopes;
    for (const auto& rule : policy.any_of) {
        const bool counts = !method || is_for_method(rule, *method);
        if (counts && is_about_others(rule, caller) && !has_one_of(rule.scopes, caller.scopes)) {
            add_scopes(scopes, rule);
        }
    }
    return scopes;
}

policy_verdict
judge(const core::access_policy& policy, const core::principal* caller, std::optional<std::string_view> method)
{
    if (policy.anyone) {
        return {.allowed = true, .rule = std::nullopt, .missing = {}};
    }
    if (policy.any_of.empty()) {
        return {.allowed = false, .rule = std::nullopt, .missing = "a policy that allows somebody"};
    }
    if (caller == nullptr) {
        return {.allowed = false, .rule = 0, .missing = "a credential"};
    }
    std::size_t nearest = 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < policy.any_of.size() && least > 0; ++i) {
        std::size_t count = 0;
        check_conditions(policy.any_of[i], *caller, method, [&](std::string_view, const auto&) { ++count; });
        if (count < least) {
            least = count;
            nearest = i;
        }
    }
    policy_verdict out{.allowed = least == 0, .rule = nearest, .missing = {}};
    // Words for one rule alone: a denial may have many.
    check_conditions(policy.any_of[nearest], *caller, method, [&](std::string_view noun, const auto& values) {
        out.missing.append(out.missing.empty() ? "" : ", and ").append(wanted(noun, values));
    });
    return out;
}

bool has_scope(const core::principal* caller, std::string_view scope)
{
    return caller != nullptr && std::ranges::find(caller->scopes, scope) != caller->scopes.end();
}

bool is_for(const core::access_default& rule, std::string_view agent_id)
{
    return rule.agents.empty() ||
           std::ranges::any_of(rule.agents, [&](const auto& pattern) { return core::fits(pattern, agent_id); });
}

}  // namespace gateway::access
