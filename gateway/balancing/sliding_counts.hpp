// Two numbers over the last while, in ten slots: how many of something, and how many of them were of a kind. Any thread, without a
// lock. No clock of its own.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace gateway::balancing {

struct counted {
    std::uint64_t all = 0;
    std::uint64_t marked = 0;

    friend bool operator==(const counted&, const counted&) = default;
};

class sliding_counts {
public:
    static constexpr std::uint64_t slots = 10;

    // `window`: at least 10 ms. Times before `from` count as `from`.
    sliding_counts(core::steady_time from, core::duration window) noexcept;

    // Adds to the slot of now, and gives what that slot has then.
    counted add(core::steady_time now, counted more) noexcept;

    // Takes back what add() added at the same time.
    void take_back(core::steady_time now, counted less) noexcept;

    // The sum of now's slot and the nine before it.
    counted sum(core::steady_time now) const noexcept;

    // Counts that another thread adds meanwhile may stay.
    void clear() noexcept;

private:
    std::uint64_t turn_of(core::steady_time now) const noexcept;

    core::steady_time from_;
    core::duration width_;
    // The turn of the slot (16 bits: one that nobody has added to for 65,536 turns may count once more), then both numbers (24 bits
    // each, which stay at the largest that fits).
    std::array<std::atomic<std::uint64_t>, slots> slots_{};
};

}  // namespace gateway::balancing
