// The metrics page, piece by piece, so that neither its making nor its sending holds a loop or needs memory for all of it,
// however many agents there are. Families are collected in turns on the control loop, which asks the workers by posting, and
// serialized on a side thread.
#pragma once

#include "gateway/management/registry.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/telemetry/worker_families.hpp"
#include "gateway/threads/side_thread.hpp"
#include "gateway/threads/turns.hpp"
#include "gateway/worker/worker.hpp"

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gateway::admin {

class metrics_feed {
public:
    // Agents whose series are collected between two looks at the time.
    static constexpr std::size_t slice = 128;

    // A piece of the page is sent when it has so many bytes.
    static constexpr std::size_t piece = 32 * 1024;

    // References outlive the feed.
    struct sources {
        const std::vector<std::unique_ptr<worker::worker>>& workers;
        const management::registry& agents;
        threads::turns& by;
        threads::side_thread& serializer;
    };

    // `totals` are counters of the control loop. `most` agents, the first by id, have series.
    metrics_feed(sources from, telemetry::metrics planes, const telemetry::loop_totals& totals, std::uint64_t most);

    // The next piece; empty: that was all. An agent that comes meanwhile is on the next page; some families have series of an agent
    // that goes.
    net::task<std::string> next();

private:
    net::task<std::string> begin();
    void choose(const std::set<std::string, std::less<>>& lingering);
    std::size_t families() const noexcept { return telemetry::counted_families().size() + planes_.agents().size(); }
    net::task<std::string> collect_slice();
    net::task<prometheus::MetricFamily>
    counted_slice(const telemetry::counted_family& what, std::vector<std::string> agents);
    prometheus::MetricFamily plane_slice(const telemetry::agent_family& what, const std::vector<std::string>& agents)
        const;
    net::task<std::string> serialize(prometheus::MetricFamily family, bool begins);

    sources from_;
    telemetry::metrics planes_;
    telemetry::worker_sums sums_;
    std::uint64_t most_;
    std::vector<std::string> shown_;  // agents with series, in the order of ids
    std::size_t family_ = 0;          // the first that is not finished: counted ones, then those of the planes
    std::size_t written_ = 0;         // agents in it
    bool begun_ = false;
};

}  // namespace gateway::admin
