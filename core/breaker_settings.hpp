// When an endpoint of an agent gets no calls any more, and when it gets some again: gateway/reach/breaker.hpp.
#pragma once

#include "core/clock.hpp"

#include <cstdint>

namespace core {

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

}  // namespace core
