// How much of a thread a peer may take that never stops talking: about a quarter, after a head start of a second.
#pragma once

#include <algorithm>
#include <chrono>

namespace net {

class fair_share {
public:
    using time = std::chrono::steady_clock::time_point;

    // Counts what was done for the peer from `begun` until `now`. Until when it is to be left alone: not later than `now` is
    // not at all.
    time spend(time begun, time now) noexcept
    {
        due_ = std::max(due_, begun) + part_of_thread * (now - begun);
        return due_ - head_start;
    }

private:
    static constexpr int part_of_thread = 4;
    static constexpr std::chrono::seconds head_start{1};

    time due_{};  // when what it took would have been its part
};

}  // namespace net
