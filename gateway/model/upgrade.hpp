// Values of an upgrade: its outcome, and what one process tells the next.
#pragma once

#include "store/engine.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gateway::model {

// For whoever asked for the upgrade.
struct handover_report {
    std::string refused;    // why there was none; empty: the new process serves
    pid_t process = 0;      // the new one
    std::string version{};  // what it says of itself
};

// Tasks that one process tells another of.
struct known_tasks {
    std::uint64_t key = 0;  // says under which key the names are; those of another one mean nothing
    std::vector<store::kept_task> tasks;
};

}  // namespace gateway::model
