// Whether an endpoint is healthy, by the checks of it so far. Pure; one thread.
#pragma once

#include "core/endpoint_rules.hpp"

#include <cstdint>
#include <optional>

namespace gateway::balancing {

class health_verdict {
public:
    // The new state of the endpoint; nothing: unchanged. An endpoint begins as healthy.
    std::optional<bool> add(bool passed, const core::health_settings& settings) noexcept
    {
        row_ = passed == healthy_ ? 0 : row_ + 1;
        if (row_ < (healthy_ ? settings.fail : settings.pass)) {
            return std::nullopt;
        }
        row_ = 0;
        healthy_ = !healthy_;
        return healthy_;
    }

    bool healthy() const noexcept { return healthy_; }

private:
    bool healthy_ = true;
    std::uint64_t row_ = 0;  // of checks that say otherwise
};

}  // namespace gateway::balancing
