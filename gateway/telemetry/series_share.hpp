// Which agents have series of their own on a metrics page, and what the planes count of the others together. Before each page
// every agent is considered, then some are chosen: those that were called last, as many as may have series. Where several were
// called last between the same two pages, those that had series keep them. Thus an agent loses its series only to one that was called
// after it, and only if it was not called since the previous page, so that no call is on no page; but for a smaller number.
// Counters of the others only grow: of each agent, they get what is counted while it has no series. One thread.
#pragma once

#include "gateway/telemetry/agent_samples.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::telemetry {

class series_share {
public:
    // The next page: first this, then consider() for every agent, then choose(), then settle() for those that wants() names.
    void begin();

    // In the order of ids, each once. `called`: since the previous page.
    void consider(std::string id, bool called);

    void choose(std::size_t most);

    // Whether the agent was considered.
    bool knows(std::string_view id) const { return place_of(id) < agents_.size(); }

    // Of one that was.
    agent_series series_of(std::string_view id) const;

    // Whether the agent has series of its own.
    bool shows(std::string_view id) const;

    // How many agents have none.
    std::size_t omitted() const noexcept { return omitted_; }

    // An agent has none, or had none on an earlier page: what the others share goes on.
    bool is_shared() const noexcept { return shared_; }

    bool wants(std::string_view id) const;
    void settle(std::string_view id, plane_samples now);

    // The others as one.
    const plane_samples& others() const noexcept { return others_; }

private:
    struct agent {
        std::string id;
        std::uint64_t called = 0;  // before which page, the latest time; 0: never
        bool shown = false;
        bool was_shown = false;                          // on the previous page
        bool was_shared = false;                         // on the previous page, without series of its own
        std::unique_ptr<const plane_samples> counted{};  // what the others got; null: nothing yet
    };

    std::size_t place_of(std::string_view id) const;

    std::vector<agent> agents_;  // in the order of ids
    std::vector<agent> before_;  // of the previous page, as far as they have not been considered
    std::size_t next_before_ = 0;
    std::uint64_t page_ = 0;
    std::size_t omitted_ = 0;
    bool shared_ = false;
    plane_samples others_;
};

}  // namespace gateway::telemetry
