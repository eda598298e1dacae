// How many calls of an agent may be sent again: a share of its calls of the last ten seconds, and always a few in each second, so
// that retries never multiply the load of an agent that fails. One for all workers; any thread, without a lock.
#pragma once

#include "core/clock.hpp"
#include "gateway/balancing/sliding_counts.hpp"

#include <cstdint>

namespace gateway::balancing {

class retry_budget {
public:
    static constexpr std::uint64_t always = 3;  // in each second

    explicit retry_budget(core::steady_time now) noexcept;

    void add_call(core::steady_time now) noexcept { recent_.add(now, {1, 0}); }

    // True: the call may be sent again, and that is counted. `share`: 0 to 1 of the calls. Threads that ask at once may be refused for
    // each other, and are never admitted beyond the budget.
    bool take(double share, core::steady_time now) noexcept;

private:
    sliding_counts recent_;  // calls, and retries
};

}  // namespace gateway::balancing
