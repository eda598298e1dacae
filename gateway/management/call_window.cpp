#include "gateway/management/call_window.hpp"

#include <algorithm>

namespace gateway::management {
namespace {

std::int64_t number_of(core::steady_time time) noexcept
{
    return time.time_since_epoch() / call_window::step;
}

}  // namespace

void call_window::add(std::uint32_t calls, std::uint32_t failures, core::steady_time now) noexcept
{
    const auto number = std::max(number_of(now), latest_);
    const auto over = std::min(number - latest_, steps);
    for (std::int64_t i = 0; i < over; ++i) {
        at(number - i) = {};
    }
    latest_ = number;
    at(number).calls += calls;
    at(number).failures += failures;
}

bool call_window::failing(core::steady_time now) const noexcept
{
    const auto oldest = number_of(now) - steps + 1;
    std::uint64_t calls = 0;
    std::uint64_t failures = 0;
    for (auto number = std::max<std::int64_t>(oldest, 0); number <= latest_; ++number) {
        const auto& each = counts_[static_cast<std::size_t>(number % steps)];
        calls += each.calls;
        failures += each.failures;
    }
    return calls >= fewest && failures * 2 > calls;
}

}  // namespace gateway::management
