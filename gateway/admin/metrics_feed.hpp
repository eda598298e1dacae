// The metrics page, piece by piece, so that neither its making nor its sending holds a loop or needs memory for all of it,
// however many agents there are. On the control loop's thread; asks the workers by posting.
#pragma once

#include "gateway/admin/metrics_samples.hpp"
#include "gateway/admin/metrics_series.hpp"
#include "gateway/telemetry/metrics_page.hpp"
#include "gateway/threads/turns.hpp"
#include "gateway/worker/worker.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace gateway::admin {

class metrics_feed {
public:
    // Agents that are looked at, and agents that are written, between two looks at the time.
    static constexpr std::size_t walk = 256;
    static constexpr std::size_t slice = 128;

    // A piece of the page is sent when it has so many bytes.
    static constexpr std::size_t piece = 32 * 1024;

    // References outlive the feed.
    struct sources {
        const std::vector<std::unique_ptr<worker::worker>>& workers;
        agent_planes planes;
        metrics_series& series;
        const telemetry::loop_totals& admin;
        threads::turns& by;
    };

    // `most` agents have series of their own.
    metrics_feed(sources from, telemetry::gateway_sample gateway, std::uint64_t most);

    // The next piece; empty: that was all. An agent that comes meanwhile is on the next page; of one that goes, some families have
    // series.
    net::task<std::string> next();

private:
    net::task<std::string> begin();
    net::task<> choose();
    net::task<> settle();
    net::task<> count_omitted();
    std::vector<std::string> agents_after(const std::string& id) const;
    std::vector<std::string> next_shown();
    net::task<> add(std::vector<std::string> agents);
    void add_others();
    net::task<std::vector<telemetry::agent_counters>> counters_of(const std::vector<std::string>& agents) const;

    sources from_;
    telemetry::gateway_sample gateway_;
    std::uint64_t most_;
    std::set<std::string, std::less<>> lingering_;       // agents that are gone, whose streams are not
    std::size_t counted_ = 0;                            // agents that any worker has counters of
    std::vector<std::string> shown_;                     // agents with series of their own, in the order of ids
    std::optional<telemetry::agent_counters> others_;    // of the other ones together; nullopt: there never were any
    telemetry::plane_samples planes_of_others_;          // the same
    std::span<const telemetry::agent_family> families_;  // that are not finished
    std::optional<telemetry::family> current_;           // the first of them, if it has been begun
    std::size_t written_ = 0;                            // agents in it
    bool begun_ = false;
};

}  // namespace gateway::admin
