// The verbs of the command line that contain agents and principals.
#pragma once

#include "gateway/cli/agents_command.hpp"

#include <CLI/CLI.hpp>

namespace gateway::cli {

// `contain` and `release` below `agents`.
void add_containment_verbs(CLI::App& agents, agents_command& command);

// `principals`, without its callback and the options of its connection. `footer` ends its help and that of its verbs.
CLI::App& add_principals(CLI::App& root, agents_command& command, const char* footer);

}  // namespace gateway::cli
