// Which credentials the callers of an agent need, as its card says it. Immutable; any thread.
#pragma once

#include "a2a/card/card_access.hpp"
#include "core/agent.hpp"

namespace gateway::model {

class card_access_source {
public:
    virtual ~card_access_source() = default;

    virtual ::a2a::card_access of(const core::agent& agent) const = 0;
};

}  // namespace gateway::model
