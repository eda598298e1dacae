// When each key of callers was accepted last: what one loop has seen, or all together. Bounded. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/audit_trail.hpp"

#include <cstddef>
#include <map>

namespace gateway::telemetry {

class key_uses {
public:
    static constexpr std::size_t most = 1024;  // of more, those that were used longest ago are forgotten

    // A key was accepted at `now`.
    void note(const model::used_key& key, core::wall_time now);

    void merge(const key_uses& other);

    const std::map<model::used_key, core::wall_time>& all() const noexcept { return latest_; }

private:
    std::map<model::used_key, core::wall_time> latest_;
};

}  // namespace gateway::telemetry
