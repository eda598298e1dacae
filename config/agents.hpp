// Agent records out of a configuration: the only way by which text becomes a core::agent. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/tls.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace config {

// The credential in a file (config/file.hpp: read_secret_file), or why not as a predicate.
using secret_reader = std::function<core::result<std::string>(const std::string& path)>;

// The map `agents`, in the order of the file. Takes our own records and those of a SuperX agents.yml.
std::vector<core::agent>
read_agents(const field& agents, const secret_reader& secrets, const tls_checks& tls, problem_list& problems);

// `ID=URL` of the command line: an A2A agent. The detail of the error says what is wrong and what is meant.
core::result<core::agent> parse_agent_flag(std::string_view flag);

}  // namespace config
