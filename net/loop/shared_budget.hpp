// Limits that several share: a budget of the whole process or of a part of it, one holder's share of it, and a peer's share of a thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace net {

// Any thread. On a cache line of its own: every call touches it.
class alignas(64) shared_budget {
public:
    // `whole`: the budget that this one is a part of, and outlives it; null: none.
    explicit shared_budget(std::uint64_t most, shared_budget* whole = nullptr) noexcept
        : most_{most},
          whole_{whole}
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
        if (whole_ != nullptr && !whole_->take(amount)) {
            taken_.fetch_sub(amount, std::memory_order_relaxed);
            return false;
        }
        return true;
    }

    void give(std::uint64_t amount) noexcept
    {
        taken_.fetch_sub(amount, std::memory_order_relaxed);
        if (whole_ != nullptr) {
            whole_->give(amount);
        }
    }

    std::uint64_t most() const noexcept { return most_; }

    std::uint64_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

private:
    const std::uint64_t most_;
    shared_budget* const whole_;
    std::atomic<std::uint64_t> taken_{0};
};

// One holder's part of a budget, which outlives it; given back at the end. One thread.
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

// The part of a thread that a peer may take which never stops sending: about a quarter, after a head start of a second.
class fair_share {
public:
    using time = std::chrono::steady_clock::time_point;

    // Counts the time that was spent on the peer from `begun` until `now`. Returns until when to leave the peer alone: at once if that is
    // not later than `now`.
    time spend(time begun, time now) noexcept
    {
        due_ = std::max(due_, begun) + part_of_thread * (now - begun);
        return due_ - head_start;
    }

private:
    static constexpr int part_of_thread = 4;
    static constexpr std::chrono::seconds head_start{1};

    time due_{};  // when the time that it took would have been its part
};

}  // namespace net
