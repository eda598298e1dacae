#include "gateway/balancing/endpoint_group.hpp"

#include "gateway/balancing/balance.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

namespace gateway::balancing {

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

bool endpoint_group::enter() noexcept
{
    if (deciding_.test_and_set(std::memory_order_acquire)) {
        return false;
    }
    const auto out = static_cast<std::size_t>(std::ranges::count_if(all_, [](const endpoint& each) {
        return each.its_breaker->state() != breaker_state::closed;
    }));
    if (all_.size() > 1 && out + 1 > all_.size() / 2) {
        leave();
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
