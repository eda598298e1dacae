#include "gateway/access/policy.hpp"

#include "core/pattern.hpp"

#include <algorithm>
#include <string>
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
