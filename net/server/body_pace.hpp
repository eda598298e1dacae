// How long a caller is waited for whose body comes slowly: it may fall behind a rate by some time, and what comes faster makes that up.
// Pure.
#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace net {

class body_pace {
public:
    // `rate` in bytes a second; 0: any.
    body_pace(std::uint64_t rate, core::duration grace) noexcept
        : rate_{rate},
          grace_{grace},
          credit_{grace}
    {
    }

    // Waiting begins, after `come` bytes.
    void begin(std::uint64_t come) noexcept
    {
        counted_ = come;
        credit_ = grace_;
    }

    // Until when to wait from `now` on, at most until `until`; `come` bytes have come in all. Say when the wait is over.
    core::steady_time due(core::steady_time until, core::steady_time now, std::uint64_t come) noexcept
    {
        if (rate_ == 0) {
            return until;
        }
        const auto more = come - std::exchange(counted_, come);
        const std::chrono::microseconds earned{more * 1'000'000 / rate_};
        credit_ = std::min<core::steady_time::duration>(credit_ + earned, grace_);
        return std::min(until, now + credit_);
    }
    void waited(core::steady_time::duration time) noexcept { credit_ -= time; }

private:
    std::uint64_t rate_;
    core::duration grace_;
    std::uint64_t counted_ = 0;  // bytes that have made up for waiting
    core::steady_time::duration credit_{};
};

}  // namespace net
