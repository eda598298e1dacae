#include "gateway/balancing/balance.hpp"

#include <algorithm>

namespace gateway::balancing {
namespace {

// The n-th usable one, from 0. Nothing: there are not so many.
std::optional<std::size_t> nth_usable(std::span<const candidate> all, std::uint64_t n) noexcept
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].usable && n-- == 0) {
            return i;
        }
    }
    return std::nullopt;
}

// The finalizer of MurmurHash3: every bit of the input changes half of those of the result.
std::uint64_t mixed(std::uint64_t value) noexcept
{
    value ^= value >> 33U;
    value *= 0xff51'afd7'ed55'8ccdULL;
    value ^= value >> 33U;
    value *= 0xc4ce'b9fe'1a85'ec53ULL;
    value ^= value >> 33U;
    return value;
}

}  // namespace

std::optional<std::size_t> choose_failover(
    std::span<const candidate> all,
    std::optional<std::size_t> current,
    core::duration failback,
    core::steady_time now
) noexcept
{
    if (!current || *current >= all.size() || !all[*current].usable) {
        return nth_usable(all, 0);
    }
    for (std::size_t i = 0; i < *current; ++i) {
        if (all[i].usable && now - all[i].usable_since >= failback) {
            return i;
        }
    }
    return current;
}

std::optional<std::size_t> choose_spread(std::span<const candidate> all, std::uint64_t dice) noexcept
{
    const auto usable = static_cast<std::uint64_t>(std::ranges::count_if(all, &candidate::usable));
    if (usable < 2) {
        return nth_usable(all, 0);
    }
    const auto first = (dice & 0xffff'ffffU) % usable;
    const auto other = (first + 1 + (dice >> 32U) % (usable - 1)) % usable;
    const auto one = nth_usable(all, first);
    const auto two = nth_usable(all, other);
    return one && two && all[*two].in_flight < all[*one].in_flight ? two : one;
}

std::optional<std::size_t> choose_by_caller(std::span<const candidate> all, std::uint64_t caller) noexcept
{
    std::optional<std::size_t> best;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto weight = mixed(caller ^ mixed(all[i].identity));
        if (all[i].usable && (!best || weight > highest)) {
            best = i;
            highest = weight;
        }
    }
    return best;
}

}  // namespace gateway::balancing
