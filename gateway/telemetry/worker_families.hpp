// The counters of the loops as families of the metrics page.
#pragma once

#include "gateway/telemetry/metric_family.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

// The sum of what the loops have posted. Workers keep plain integers, and post copies of them for each page.
class worker_sums final : public prometheus::Collectable {
public:
    void add(const loop_totals& of_loop) { sum_.merge(of_loop); }

    // Agents that any loop has counters of.
    std::size_t agents() const noexcept { return sum_.agents; }

    // The families that are not of agents.
    std::vector<prometheus::MetricFamily> Collect() const override;

private:
    loop_totals sum_;
};

// The counters of one agent, of all loops together.
struct counted_agent {
    std::string_view id;
    std::string_view protocol;  // "a2a", "mcp"
    const agent_counters& counters;
};

struct counted_family {
    metric_row what;
    void (*add)(family& into, const counted_agent& of);
};

std::span<const counted_family> counted_families() noexcept;

}  // namespace gateway::telemetry
