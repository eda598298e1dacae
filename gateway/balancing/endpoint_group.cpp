#include "gateway/balancing/endpoint_group.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

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

endpoint_group::endpoint_group(const group_rules& rules, const std::vector<member>& members, core::steady_time now)
    : rules_{rules},
      from_{now},
      all_(members.size())
{
    for (std::size_t i = 0; i < members.size(); ++i) {
        all_[i].its_breaker = members[i].its_breaker;
        all_[i].identity = members[i].identity;
    }
}

std::int64_t endpoint_group::millis(core::steady_time now) const noexcept
{
    return std::chrono::duration_cast<core::duration>(std::max(now, from_) - from_).count();
}

// Whether calls may go there, and since when. The one call that a half open breaker waits for leaves that time as it is.
bool endpoint_group::look(endpoint& at, core::steady_time now) noexcept
{
    const bool healthy = at.healthy.load(std::memory_order_acquire);
    const bool admits = at.its_breaker->admits(now);
    const bool out = !healthy || (!admits && at.its_breaker->state() == breaker_state::open);
    auto since = at.usable_since.load(std::memory_order_relaxed);
    if (out && since != unusable) {
        at.usable_since.store(unusable, std::memory_order_relaxed);
    } else if (!out && since == unusable) {
        at.usable_since.compare_exchange_strong(since, millis(now), std::memory_order_relaxed);
    }
    return healthy && admits;
}

std::optional<std::size_t> endpoint_group::choose(const choice_terms& terms) noexcept
{
    std::array<candidate, most_endpoints> seen;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const bool tried = (terms.tried >> i & 1U) != 0;
        seen[i].usable = look(all_[i], terms.now) && !tried;
        const auto since = all_[i].usable_since.load(std::memory_order_relaxed);
        seen[i].usable_since = since == unusable ? terms.now : from_ + core::duration{since};
        seen[i].in_flight = in_flight(i);
        seen[i].identity = all_[i].identity;
    }
    const std::span<const candidate> all{seen.data(), all_.size()};
    if (rules_.balance == core::balancing::spread) {
        return choose_spread(all, terms.dice);
    }
    if (rules_.balance == core::balancing::caller) {
        return choose_by_caller(all, terms.caller);
    }
    const auto current = current_.load(std::memory_order_relaxed);
    const auto chosen = choose_failover(all, current, rules_.failback, terms.now);
    // A trial, and a call that has been elsewhere, lead nobody else.
    const bool leads = chosen && *chosen != current && terms.tried == 0;
    if (leads && all_[*chosen].its_breaker->state() == breaker_state::closed) {
        current_.store(*chosen, std::memory_order_relaxed);
    }
    return chosen;
}

core::steady_time endpoint_group::again_at(core::steady_time now) const noexcept
{
    auto first = core::steady_time::max();
    for (const auto& each : all_) {
        first = std::min(first, each.its_breaker->again_at(now));
    }
    return first;
}

bool endpoint_group::begin_ejection() noexcept
{
    if (deciding_.test_and_set(std::memory_order_acquire)) {
        return false;
    }
    const auto out = static_cast<std::size_t>(std::ranges::count_if(all_, [](const endpoint& each) {
        return each.its_breaker->state() != breaker_state::closed;
    }));
    if (all_.size() > 1 && out + 1 > all_.size() / 2) {
        end_ejection();
        return false;
    }
    return true;
}

bool endpoint_group::consists_of(const std::vector<member>& members) const noexcept
{
    return std::ranges::equal(all_, members, [](const endpoint& is, const member& wanted) {
        return is.its_breaker == wanted.its_breaker && is.identity == wanted.identity;
    });
}

}  // namespace gateway::balancing
