// Tasks that one process tells another of.
#pragma once

#include "store/engine.hpp"

#include <cstdint>
#include <vector>

namespace gateway::model {

struct known_tasks {
    std::uint64_t key = 0;  // says under which key the names are; those of another one mean nothing
    std::vector<store::kept_task> tasks;
};

}  // namespace gateway::model
