// How many requests callers may send: limits a second, each for itself, each kept as a token bucket
// (gateway/access/rate_limiter.hpp).
#pragma once

#include <cstdint>

namespace core {

struct rate_limit {
    std::uint64_t rate = 0;   // requests a second; 0: as many as come
    std::uint64_t burst = 0;  // of these at once, after a pause; 0: as many as `rate`

    friend bool operator==(const rate_limit&, const rate_limit&) = default;
};

struct rate_limits {
    rate_limit principal;  // of one principal, wherever its requests come from and go to
    rate_limit agent;      // to one agent, of all its callers together
    rate_limit address;    // from one address

    friend bool operator==(const rate_limits&, const rate_limits&) = default;
};

}  // namespace core
