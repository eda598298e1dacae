// For how long a connection to an agent is used again and again. Pure: time and chance come from the caller.
#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace net {

struct life_settings {
    core::duration keep{60'000};  // without a request
    core::duration max_age{600'000
    };  // minus up to a fifth of it, so that connections made together do not end together
    std::uint64_t requests = 10'000;
};

class connection_life {
public:
    connection_life() = default;

    // `chance`: 0 to less than 1.
    connection_life(const life_settings& settings, core::steady_time now, double chance) noexcept;

    // An exchange has ended. `announced`: for how long the agent keeps a connection without a request, as its answer says; what an
    // earlier one said stays. The agent counts from when it sent the answer: a second is left to it. False: no request may follow.
    bool rest(core::steady_time now, std::optional<std::chrono::seconds> announced) noexcept;

    // Whether a request may follow now.
    bool usable(core::steady_time now) const noexcept { return now < idle_until_ && now < ends_; }

    // The agent has said for how long it keeps the connection.
    bool announced() const noexcept { return announced_; }

    // Since rest().
    core::duration idle_for(core::steady_time now) const noexcept
    {
        return std::chrono::duration_cast<core::duration>(now - rested_);
    }

private:
    life_settings settings_;
    core::steady_time ends_{core::steady_time::max()};
    core::steady_time idle_until_{core::steady_time::max()};
    core::steady_time rested_{};
    std::uint64_t requests_ = 0;
    bool announced_ = false;
};

}  // namespace net
