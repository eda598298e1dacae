// How much of something the whole process may hold at a time, shared by its loops, and what one holder has of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace net {

// Any thread. On a cache line of its own: every call touches it.
class alignas(64) shared_budget {
public:
    explicit shared_budget(std::uint64_t most) noexcept
        : most_{most}
    {
    }
    shared_budget(const shared_budget&) = delete;
    shared_budget& operator=(const shared_budget&) = delete;

    // False: so much is not left, and nothing was taken.
    bool take(std::uint64_t amount) noexcept
    {
        auto taken = taken_.load(std::memory_order_relaxed);
        do {
            if (amount > most_ - taken) {
                return false;
            }
        } while (!taken_.compare_exchange_weak(taken, taken + amount, std::memory_order_relaxed));
        return true;
    }

    // What was taken.
    void give(std::uint64_t amount) noexcept { taken_.fetch_sub(amount, std::memory_order_relaxed); }

    std::uint64_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

private:
    const std::uint64_t most_;
    std::atomic<std::uint64_t> taken_{0};
};

// What one holder has of a budget, which outlives it; given back at the end. One thread.
class budget_share {
public:
    // Null: without limit.
    explicit budget_share(shared_budget* from) noexcept
        : from_{from}
    {
    }
    ~budget_share() { set(0); }
    budget_share(const budget_share&) = delete;
    budget_share& operator=(const budget_share&) = delete;

    // More or less than before. False: so much is not left, and the share stays as it was.
    bool set(std::uint64_t amount) noexcept
    {
        if (from_ == nullptr || amount == held_) {
            return true;
        }
        if (amount > held_) {
            if (!from_->take(amount - held_)) {
                return false;
            }
        } else {
            from_->give(held_ - amount);
        }
        held_ = amount;
        return true;
    }

private:
    shared_budget* from_;
    std::uint64_t held_ = 0;
};

}  // namespace net
