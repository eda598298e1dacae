// Whether a policy lets a caller through. Pure; any thread.
#pragma once

#include "core/access.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

// `caller` is null for an anonymous caller, whom only a policy for anyone allows. `method` is the JSON-RPC method, empty
// where there is none: a rule for certain methods does not allow that.
bool allows(const core::access_policy& policy, const core::principal* caller, std::string_view method = {});

// Whether there may be a method with which the policy allows it.
bool allows_some_method(const core::access_policy& policy, const core::principal* caller);

// The scopes that rules of the policy ask for, each once. None if anyone is allowed.
std::vector<std::string> scopes_of(const core::access_policy& policy);

// The scopes with which the policy would allow it: those of rules that hold for the caller but for its scopes, each once.
// `method` as allows() has it; nullopt: any.
std::vector<std::string> missing_scopes(
    const core::access_policy& policy,
    const core::principal& caller,
    std::optional<std::string_view> method
);

// A decision with its reason.
struct policy_verdict {
    bool allowed = false;
    std::optional<std::size_t>
        rule;             // that allows it, or that lacks the least; nullopt: the policy has none that counts
    std::string missing;  // what the caller lacks for that rule, in words of operators; empty: nothing
};

// Agrees with allows(); without a method with allows_some_method().
policy_verdict
judge(const core::access_policy& policy, const core::principal* caller, std::optional<std::string_view> method);

// False for an anonymous caller.
bool has_scope(const core::principal* caller, std::string_view scope);

// Whether a rule is for the agent with this id.
bool is_for(const core::access_default& rule, std::string_view agent_id);

}  // namespace gateway::access
