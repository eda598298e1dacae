// The retry budget of an agent, which is not made before the first call that might be sent again: until then a call costs the look
// at one pointer. One for all workers; any thread, without a lock.
#pragma once

#include "core/clock.hpp"
#include "gateway/balancing/retry_budget.hpp"

#include <atomic>
#include <memory>

namespace gateway::balancing {

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

    // Works as retry_budget::take(); calls before the first one that asks do not count.
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
