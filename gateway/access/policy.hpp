// Whether a policy lets a caller through. Pure; any thread.
#pragma once

#include "core/access.hpp"

#include <string_view>

namespace gateway::access {

// `caller` is null for an anonymous caller, whom only a policy for anyone allows. `method` is the JSON-RPC method, empty
// where there is none: a rule for certain methods does not allow that.
bool allows(const core::access_policy& policy, const core::principal* caller, std::string_view method = {});

// Whether there may be a method with which the policy allows it.
bool allows_some_method(const core::access_policy& policy, const core::principal* caller);

// False for an anonymous caller.
bool has_scope(const core::principal* caller, std::string_view scope);

// Whether a rule is for the agent with this id.
bool is_for(const core::access_default& rule, std::string_view agent_id);

}  // namespace gateway::access
