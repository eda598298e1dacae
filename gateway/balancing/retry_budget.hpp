// How many calls of an agent may be sent again: a share of its calls of the last ten seconds, and always a few in each second, so
// that retries never multiply the load of an agent that fails. One for all workers; any thread, without a lock.
#pragma once

#include "core/clock.hpp"
#include "gateway/balancing/sliding_counts.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

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

// The retry budget of an agent, which is not made before the first call that might be sent again: until then a call costs the look
// at one pointer. One for all workers; any thread, without a lock.
class retry_ledger {
public:
    retry_ledger() = default;
    ~retry_ledger() { delete budget_.load(std::memory_order_acquire); }
    retry_ledger(const retry_ledger&) = delete;
    retry_ledger& operator=(const retry_ledger&) = delete;

    void add_call(core::steady_time now) noexcept
    {
        if (auto* budget = budget_.load(std::memory_order_acquire)) {
            budget->add_call(now);
        }
    }

    // Works like retry_budget::take(); calls before the first one that asks do not count.
    bool take(double share, core::steady_time now)
    {
        auto* budget = budget_.load(std::memory_order_acquire);
        if (budget == nullptr) {
            auto made = std::make_unique<retry_budget>(now);
            if (budget_.compare_exchange_strong(budget, made.get(), std::memory_order_acq_rel)) {
                budget = made.release();
            }
        }
        return budget->take(share, now);
    }

private:
    std::atomic<retry_budget*> budget_{nullptr};  // owned
};

}  // namespace gateway::balancing
