// A bound on the memory that many hold together, each a share of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace core {

// Any thread. Outlives its shares.
class memory_budget {
public:
    explicit memory_budget(std::uint64_t most) noexcept
        : most_{most}
    {
    }

    std::uint64_t most() const noexcept { return most_; }
    std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }

    // False: less than `spare` bytes would be left, and nothing is held.
    bool take(std::uint64_t bytes, std::uint64_t spare = 0) noexcept
    {
        auto held = held_.load(std::memory_order_relaxed);
        do {
            if (most_ < spare || most_ - spare < held || most_ - spare - held < bytes) {
                return false;
            }
        } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
        return true;
    }

    void give(std::uint64_t bytes) noexcept { held_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    std::uint64_t most_;
    std::atomic<std::uint64_t> held_ = 0;
};

// One holder's part of the budget, given back when the share ends. One thread at a time.
class memory_share {
public:
    memory_share() = default;

    // Takes only what leaves `spare` bytes of the budget to others.
    explicit memory_share(memory_budget& of, std::uint64_t spare = 0) noexcept
        : of_{&of},
          spare_{spare}
    {
    }
    memory_share(memory_share&& other) noexcept
        : of_{std::exchange(other.of_, nullptr)},
          spare_{other.spare_},
          held_{std::exchange(other.held_, 0)}
    {
    }
    memory_share& operator=(memory_share&& other) noexcept
    {
        std::swap(of_, other.of_);
        std::swap(spare_, other.spare_);
        std::swap(held_, other.held_);
        return *this;
    }
    memory_share(const memory_share&) = delete;
    memory_share& operator=(const memory_share&) = delete;
    ~memory_share()
    {
        if (of_ != nullptr) {
            of_->give(held_);
        }
    }

    std::uint64_t held() const noexcept { return held_; }

    // Holds `bytes` in all from now on, more or fewer than before. False: there is no room for more; as before.
    bool hold(std::uint64_t bytes) noexcept
    {
        if (bytes > held_) {
            if (of_ == nullptr || !of_->take(bytes - held_, spare_)) {
                return false;
            }
        } else if (of_ != nullptr) {
            of_->give(held_ - bytes);
        }
        held_ = bytes;
        return true;
    }

private:
    memory_budget* of_ = nullptr;
    std::uint64_t spare_ = 0;
    std::uint64_t held_ = 0;
};

}  // namespace core
