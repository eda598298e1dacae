// A caller's credential that a provider has accepted. A value.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"

#include <chrono>
#include <memory>

namespace gateway::model {

inline constexpr std::chrono::seconds longest_acceptance{60};  // then a credential is looked at again

struct accepted_credential {
    std::shared_ptr<const core::principal> owner;    // not null
    core::wall_time until = core::wall_time::max();  // from then on it has to be looked at again
    // Its own end. Until then it may count for as long again as it was accepted while it is looked at again; the default: not at all.
    core::wall_time ends{};
    bool is_key = false;  // of the configuration, whose first use is noted
};

}  // namespace gateway::model
