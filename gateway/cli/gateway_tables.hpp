// The answers about a gateway as a whole as text for people, printable, in lines. Pure.
#pragma once

#include "core/json/json.hpp"

#include <string>

namespace gateway::cli {

// The result of gateway/info in five lines, and what needs somebody.
std::string info_text(const core::json& info);

// A table of the `agents` of agents/health with `stats`.
std::string calls_table(const core::json& found);

// The result of calls/edges: a table of who calls whom.
std::string edges_table(const core::json& found);

// The result of replicas/list: a table; `*` marks the gateway that was asked.
std::string replicas_table(const core::json& found);

// The answer to POST /reload.
std::string reload_text(const core::json& report);

// The result of gateway/config as `config dump` has it: each value with its origin at its place.
core::json dump_of(const core::json& configuration);

}  // namespace gateway::cli
