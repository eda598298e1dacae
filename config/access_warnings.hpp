// What below `access`, and in the policies of agents, is likely not what its operator means, though it can be used. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"
#include "core/access.hpp"

#include <string>

namespace config {

// Warns of `access` without a provider, of rules that one before them hides, of ids that no agent of the file has, and of claims
// that stand elsewhere. `f` is the field of `access`, of which `all` was read without a problem.
void warn_of_access(const field& f, const settings& all, problem_list& problems);

// Which claim a rule of the policy asks for that callers with tokens cannot have, as a predicate with what was expected. Empty:
// there is none.
std::string misplaced_claim(const core::access_policy& policy, const core::access_settings& access);

}  // namespace config
