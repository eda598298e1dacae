// The breakers of endpoints by their names: whoever describes an agent again gets the breaker that its calls know, as long as one of
// them does. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/balancing/breaker.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace gateway::balancing {

class breaker_shelf {
public:
    // The one of this name if somebody still has it and it goes by the same settings; else another one.
    std::shared_ptr<breaker>
    get(const std::string& endpoint, const core::breaker_settings& settings, core::steady_time now);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<breaker>> known_;
    std::shared_ptr<const core::breaker_settings> latest_;  // mostly those of the next one too
    std::size_t most_ = 64;                                 // beyond them those that nobody has are forgotten
};

}  // namespace gateway::balancing
