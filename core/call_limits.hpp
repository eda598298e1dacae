// How many calls of an agent there may be at a time: gateway/reach/call_gate.hpp.
#pragma once

#include "core/clock.hpp"

#include <cstdint>

namespace core {

struct call_limits {
    std::uint64_t in_flight = 256;  // calls that the agent has not answered
    std::uint64_t queue = 512;      // calls that wait for one of them to end
    std::uint64_t streams = 1000;   // answers that are streams of events
    duration wait{1'000};           // the longest time in the queue

    friend bool operator==(const call_limits&, const call_limits&) = default;
};

}  // namespace core
