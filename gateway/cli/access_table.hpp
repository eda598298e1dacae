// Table of access that `cardea validate` prints: which route of which listener is open to whom. Pure.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace gateway::cli {

// A line for each listener, route and group of agents with the same policies; each line ends with a line break. What it quotes
// is as the configuration has it, and not fit for a terminal.
std::string access_table(const config::settings& settings);

}  // namespace gateway::cli
