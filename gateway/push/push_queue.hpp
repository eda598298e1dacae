// Which deliveries wait, and which is next. Deliveries of a lane go out one after the other in the order of their numbers;
// lanes do not wait for one another. Hooks that have not failed go before those that have, so that receivers that do not
// answer hold up their own only, and a principal has at most half of the places and of the attempts. Bodies are not here but in the
// store. Pure: the time is a parameter.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "store/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace gateway::push {

struct queue_limits {
    std::uint64_t all = 0;
    std::uint64_t of_agent = 0;
    std::uint64_t bytes = 0;  // of all; an agent has half of them, or one delivery
};

// Attempts at a time, and those of one agent.
inline constexpr std::size_t most_under_way = 64;
inline constexpr std::size_t most_under_way_of_agent = 16;

// Shares of its principal that a place takes: of the agent's places and of all, of the agent's bytes and of all. Empty of those that
// are nobody's in particular.
using queue_shares = std::array<core::place_share, 4>;

class push_queue {
public:
    explicit push_queue(const queue_limits& limits) noexcept
        : limits_{limits}
    {
    }

    // Takes a place for one more, until add() or give_up(). Fails with overloaded; the detail says which limit.
    core::result<queue_shares> reserve(const store::delivery_facts& delivery);
    void give_up(const std::string& agent, std::uint64_t size);

    // Adds a delivery whose place was reserved. It is due at once unless others of its lane wait.
    void add(store::delivery_facts delivery, queue_shares shares, core::steady_time now);

    // One of an earlier process: counts, but is never refused.
    void restore(store::delivery_facts delivery, core::steady_time now);

    // The next one that is due, which is under way then; nothing: none is, or too many are under way. Its time does not grow with
    // the number of those that wait, but with that of the agents for which one principal's wait.
    std::optional<store::delivery_facts> next(core::steady_time now);

    // Number of earlier failures of the delivery under way in this lane.
    std::uint64_t failures(const std::string& lane) const;

    // The one under way has ended; `well`: its hook has answered.
    void finish(const std::string& lane, core::steady_time now, bool well = true);

    // The one under way has failed and is due again at `when`.
    void try_again(const std::string& lane, core::steady_time when);

    // The one under way was not tried after all, and is due again at `when`.
    void put_back(const std::string& lane, core::steady_time when);

    // Whether it waits or is under way.
    bool has(std::uint64_t number) const { return received_.contains(number); }

    std::size_t size() const noexcept { return received_.size(); }
    std::uint64_t bytes() const noexcept { return bytes_; }  // with reserved places
    std::optional<core::wall_time> oldest() const;

private:
    struct waiting_delivery {
        store::delivery_facts facts;
        queue_shares shares;
    };
    struct lane_state {
        std::map<std::uint64_t, waiting_delivery> waiting;  // never empty
        std::uint64_t failures = 0;                         // of the first
        bool under_way = false;
        core::place_share of_agent;  // among the attempts of the first one's agent, and among all
        core::place_share of_all;
    };
    // Lanes of which none is under way: whether the first or its hook has failed, when it is due, and the name.
    using due_lanes = std::set<std::tuple<bool, core::steady_time, std::string>>;
    struct agent_state {
        std::uint64_t places = 0;
        std::uint64_t bytes = 0;
        std::size_t under_way = 0;
    };
    struct hook_state {
        std::size_t lanes = 0;
        bool failed = false;  // at its last attempt
    };
    using lanes = std::map<std::string, lane_state, std::less<>>;

    void take_place(const std::string& agent, std::uint64_t size);
    core::result<queue_shares> take_shares(const store::delivery_facts& delivery) const;
    bool has_failed(std::string_view lane) const;
    void record_hook(std::string_view lane, bool failed);
    std::string obstacle(std::string_view name, lane_state& lane);
    due_lanes::iterator let_go(std::string_view why, due_lanes::iterator place);
    due_lanes::iterator let_owner_go(std::string_view owner, due_lanes::iterator place);
    void let_go_to_full(std::string_view owner);
    bool is_full(const std::string& agent) const;
    void end_attempt(lanes::iterator lane);

    queue_limits limits_;
    lanes lanes_;
    due_lanes due_;  // that are not parked
    std::map<std::string, agent_state, std::less<>> agents_;
    std::map<std::string, hook_state, std::less<>> hooks_;  // with a lane
    // Were due while too many were under way, by whose: each that ends lets one go.
    std::map<std::string, due_lanes, std::less<>> parked_;
    std::map<std::uint64_t, core::wall_time> received_;  // by number
    std::uint64_t places_ = 0;
    std::uint64_t bytes_ = 0;
    std::size_t under_way_ = 0;
};

}  // namespace gateway::push
