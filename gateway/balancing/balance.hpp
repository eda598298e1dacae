// Which of an agent's endpoints gets a call. Pure: the state of the endpoints, the time and the dice come from the caller.
#pragma once

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gateway::balancing {

// One endpoint, in the order in which they are written.
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

}  // namespace gateway::balancing
