// `cardea agents pins` and `cardea agents approve`: what agents say of themselves, and what of it is approved.
#pragma once

#include "gateway/cli/admin_client.hpp"
#include "gateway/cli/agents_command.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace gateway::cli {

// `pins` and `approve` below `agents`.
void add_pin_verbs(CLI::App& agents, agents_command& command);

// The output of a verb, printable, and its exit code.
struct verb_outcome {
    exit_code code = exit_code::done;
    std::string out{};
    std::string err{};
};

// Sends the requests of either verb. `table`: for people; else the answers as JSON. Blocking.
verb_outcome run_pin_verb(const agents_command& command, const admin_client& gateway, bool table);

// The lock file that approves what these `agents` of agents/pins have approved. Pure.
std::string lock_text_of(const core::json& agents);

// The `agents` of agents/pins as lines. Pure.
std::string pins_text(const core::json& agents);

}  // namespace gateway::cli
