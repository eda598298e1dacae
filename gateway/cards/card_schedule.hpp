// When cards are fetched though nobody asks: soon after the start, and again before their freshness ends; an agent that
// fails is asked ever less often. Everything is spread, so that thousands of agents are not asked in the same second. No
// clock and no I/O. One thread.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace gateway::cards {

// The first fetches of agents that come together follow one another at this distance.
inline constexpr core::duration first_fetch_distance{10};

class card_schedule {
public:
    // `settings` outlive the schedule.
    card_schedule(const config::card_settings& settings, std::uint64_t seed);

    // A new agent; one that is there begins again, at random within `spread`.
    void add(const std::string& id, core::steady_time now, core::duration spread = {});
    void remove(const std::string& id);

    // The id whose time came first, if one's has. It is not named again before one of the next two.
    std::optional<std::string> take(core::steady_time now);

    // After a fetch, whoever asked for it: again when 0.75 to 0.95 of the freshness has passed, but not within a second;
    // after a failure when negative_ttl has, doubled with each failure in a row until it is ttl, up to half as long again.
    void succeeded(const std::string& id, core::steady_time now, core::duration fresh_for);
    void failed(const std::string& id, core::steady_time now);

private:
    struct entry {
        std::optional<core::steady_time> due;  // nullopt: taken
        unsigned failures = 0;                 // in a row
    };

    void set_due(const std::string& id, entry& agent, std::optional<core::steady_time> due);
    core::duration part_of(core::duration whole, double least, double most);

    const config::card_settings& settings_;
    std::mt19937_64 random_;
    model::string_map<entry> entries_;
    std::set<std::pair<core::steady_time, std::string>> order_;
    core::steady_time next_first_ = core::steady_time::min();
};

}  // namespace gateway::cards
