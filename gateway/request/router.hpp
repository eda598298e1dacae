// From a request target to what it is for. Pure. Nothing is decoded or normalised: a path that only means an agent after
// decoding means nothing here, so that no spelling reaches another agent or route. The slash in the name of a registry's server is
// the exception: clients of that API encode it.
#pragma once

#include "gateway/request/route.hpp"

#include <string_view>

namespace gateway::request {

// `target` is origin-form or "*" (net/http1/head.hpp).
destination find_destination(std::string_view target) noexcept;

// Finds a destination at the origin of an agent's own name, where nothing but this agent is: a path there means what it means below
// `/agents/<id>`, and those of HTTP+JSON need no `/rest` in front. `agent` outlives the destination.
destination find_destination_of(std::string_view agent, std::string_view target) noexcept;

}  // namespace gateway::request
