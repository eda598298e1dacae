// The values of an agent's keys that depend on no other key. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/tls.hpp"
#include "core/agent.hpp"

namespace config {

// Sets the member of each key as agent_table.hpp describes it. Keys that only MCP servers have are of these alone.
void read_agent_values(const members& given, const tls_checks& tls, core::agent& into, problem_list& problems);

}  // namespace config
