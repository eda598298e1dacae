// Limits of calls: how many of an agent run at a time, when an endpoint gets none, and how many requests callers may send.
#pragma once

#include "core/clock.hpp"

#include <cstdint>

namespace core {

// The calls of one agent.
struct call_limits {
    std::uint64_t in_flight = 256;  // calls that the agent has not answered
    std::uint64_t queue = 512;      // calls that wait for one of them to end
    std::uint64_t streams = 1000;   // answers that are streams of events
    duration wait{1'000};           // the longest time in the queue

    friend bool operator==(const call_limits&, const call_limits&) = default;
};

// The circuit breaker of one endpoint of an agent.
struct breaker_settings {
    std::uint64_t failures = 5;  // one after the other: it opens
    double ratio = 0.5;          // of the calls in the window failed: it opens
    std::uint64_t volume = 20;   // but not with fewer calls than these
    duration window{30'000};     // of the ratio
    duration cooldown{30'000};   // it stays open so long, times the number of openings without a success in between
    duration max_cooldown{300'000};
    duration probe{1'000};  // between two attempts to connect to an endpoint that could not be connected to

    friend bool operator==(const breaker_settings&, const breaker_settings&) = default;
};

// A token bucket.
struct rate_limit {
    std::uint64_t rate = 0;   // requests a second; 0: as many as come
    std::uint64_t burst = 0;  // of these at once, after a pause; 0: as many as `rate`

    friend bool operator==(const rate_limit&, const rate_limit&) = default;
};

struct rate_limits {
    rate_limit principal;  // of one principal, wherever its requests come from and go to
    rate_limit agent;      // to one agent, of all its callers together
    rate_limit address;    // from one address

    bool divide = false;  // among the replicas that are alive: each admits its part, rounded up

    friend bool operator==(const rate_limits&, const rate_limits&) = default;
};

}  // namespace core
