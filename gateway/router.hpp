// From a request target to what it is for. Pure. Nothing is decoded or normalised: a path that only means an agent after
// decoding means nothing here, so that no spelling reaches another agent or route.
#pragma once

#include "gateway/request_record.hpp"

#include <string_view>

namespace gateway {

struct destination {
    route where = route::none;
    std::string_view agent;    // of card and call; a view into the target
    bool legacy_card = false;  // the card was asked for under its name of 0.2, agent.json
};

// `target` is origin-form or "*" (net/http1/head.hpp).
destination find_destination(std::string_view target) noexcept;

}  // namespace gateway
