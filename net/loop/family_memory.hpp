// Which family of addresses of a name did not work lately (RFC 8305): its addresses are tried last. One for each name, which all
// loops share. Any thread.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace net {

enum class family : std::uint8_t { v4, v6 };

class family_memory {
public:
    static constexpr core::duration lasts{10 * 60'000};

    bool failed(family which, core::steady_time now) const noexcept
    {
        return now.time_since_epoch().count() < until_[place(which)].load(std::memory_order_relaxed);
    }

    void note_failed(family which, core::steady_time now) noexcept
    {
        until_[place(which)].store((now + lasts).time_since_epoch().count(), std::memory_order_relaxed);
    }

    void note_worked(family which) noexcept { until_[place(which)].store(never_failed, std::memory_order_relaxed); }

private:
    using ticks = core::steady_time::rep;
    static constexpr ticks never_failed = core::steady_time::min().time_since_epoch().count();

    static constexpr std::size_t place(family which) noexcept { return static_cast<std::size_t>(which); }

    std::array<std::atomic<ticks>, 2> until_{never_failed, never_failed};
};

}  // namespace net
