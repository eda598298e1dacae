// How the calls of one agent ended in the last five minutes. Pure: it has no clock.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gateway::management {

class call_window {
public:
    static constexpr std::chrono::minutes span{5};
    static constexpr std::chrono::seconds step{30
    };  // by which it moves on: a call counts for `span`, or up to one step less
    static constexpr std::uint32_t fewest = 5;  // calls that say something

    // `failures` of these calls failed. Times do not go back.
    void add(std::uint32_t calls, std::uint32_t failures, core::steady_time now) noexcept;

    // More than half of at least `fewest` calls failed.
    bool failing(core::steady_time now) const noexcept;

private:
    static constexpr std::int64_t steps = span / step;

    struct counts {
        std::uint32_t calls = 0;
        std::uint32_t failures = 0;
    };

    counts& at(std::int64_t number) noexcept { return counts_[static_cast<std::size_t>(number % steps)]; }

    std::array<counts, static_cast<std::size_t>(steps)> counts_{};
    std::int64_t latest_ = 0;  // the number of the step that was added to last
};

}  // namespace gateway::management
