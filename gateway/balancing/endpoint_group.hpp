// The endpoints of one agent that has several, or one that is checked: which of them gets a call. One for all workers; any thread,
// without a lock. No clock and no chance of its own.
#pragma once

#include "core/clock.hpp"
#include "core/endpoint_rules.hpp"
#include "gateway/balancing/breaker.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace gateway::balancing {

// One endpoint, in the order in which they are written, for the three pure functions below.
struct candidate {
    bool usable = true;                // its breaker admits calls
    core::steady_time usable_since{};  // without a break; only of one that is
    std::uint64_t in_flight = 0;       // calls
    std::uint64_t identity = 0;        // a hash of its address, which stays when others come and go
};

// The first usable one in written order; but a call does not leave `current` for an earlier one before that has been usable for
// `failback`. `current`: that of the agent's previous call. Nothing: none is usable.
std::optional<std::size_t> choose_failover(
    std::span<const candidate> all,
    std::optional<std::size_t> current,
    core::duration failback,
    core::steady_time now
) noexcept;

// The one of two usable candidates, picked by `dice`, with fewer calls in flight (power of two choices). `dice`: 64 random bits.
std::optional<std::size_t> choose_spread(std::span<const candidate> all, std::uint64_t dice) noexcept;

// One candidate per caller while it is usable; if it is not, only its callers move (rendezvous hashing). `caller`: a hash.
std::optional<std::size_t> choose_by_caller(std::span<const candidate> all, std::uint64_t caller) noexcept;

inline constexpr std::size_t most_endpoints = 32;

// Numbers of endpoints, from 0.
using endpoint_mask = std::uint32_t;
static_assert(most_endpoints <= 8 * sizeof(endpoint_mask));

struct group_rules {
    core::balancing balance = core::balancing::failover;
    core::duration failback{};

    friend bool operator==(const group_rules&, const group_rules&) = default;
};

// Which call it is that an endpoint is chosen for.
struct choice_terms {
    core::steady_time now;
    std::uint64_t caller = 0;  // a hash of it; counts with balancing::caller alone
    std::uint64_t dice = 0;    // 64 random bits; count with balancing::spread alone
    endpoint_mask tried = 0;   // those that the call has been at
};

class endpoint_group {
public:
    struct member {
        std::shared_ptr<breaker> its_breaker;
        std::uint64_t identity = 0;  // as candidate::identity
    };

    // 1 to most_endpoints, in written order.
    endpoint_group(const group_rules& rules, const std::vector<member>& members, core::steady_time now);

    // Nothing: none is usable.
    std::optional<std::size_t> choose(const choice_terms& terms) noexcept;

    // A call is on its way to an endpoint, and is not any more.
    void began(std::size_t i) noexcept { all_[i].in_flight.fetch_add(1, std::memory_order_relaxed); }
    void ended(std::size_t i) noexcept { all_[i].in_flight.fetch_sub(1, std::memory_order_relaxed); }
    std::uint64_t in_flight(std::size_t i) const noexcept { return all_[i].in_flight.load(std::memory_order_relaxed); }

    // Result of the active checks. At first every endpoint is healthy.
    void set_healthy(std::size_t i, bool healthy) noexcept
    {
        all_[i].healthy.store(healthy, std::memory_order_release);
    }
    bool healthy(std::size_t i) const noexcept { return all_[i].healthy.load(std::memory_order_acquire); }

    // Until when no breaker admits a call for sure.
    core::steady_time again_at(core::steady_time now) const noexcept;

    // At most half of several endpoints are ejected because of a ratio: one at a time decides, and the others go on.
    // Any thread; false: not now. After true comes one end_ejection().
    bool begin_ejection() noexcept;
    void end_ejection() noexcept { deciding_.clear(std::memory_order_release); }

    std::size_t size() const noexcept { return all_.size(); }
    const breaker& breaker_of(std::size_t i) const noexcept { return *all_[i].its_breaker; }
    const group_rules& rules() const noexcept { return rules_; }
    bool consists_of(const std::vector<member>& members) const noexcept;

private:
    struct endpoint {
        std::shared_ptr<breaker> its_breaker;
        std::uint64_t identity = 0;
        std::atomic<std::uint64_t> in_flight{0};
        std::atomic<bool> healthy{true};
        std::atomic<std::int64_t> usable_since{0};  // milliseconds since from_; unusable: it is not
    };
    static constexpr std::int64_t unusable = -1;

    std::int64_t millis(core::steady_time now) const noexcept;
    bool look(endpoint& at, core::steady_time now) noexcept;

    group_rules rules_;
    core::steady_time from_;
    std::vector<endpoint> all_;
    std::atomic<std::size_t> current_{0};  // where calls go with balancing::failover
    std::atomic_flag deciding_;
};

// Whether an endpoint is healthy, by the checks of it so far. One thread.
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
