// Outcome of a hand-over, for whoever asked for it.
#pragma once

#include <sys/types.h>

#include <string>

namespace gateway::model {

struct handover_report {
    std::string refused;    // why there was none; empty: the new process serves
    pid_t process = 0;      // the new one
    std::string version{};  // what it says of itself
};

}  // namespace gateway::model
