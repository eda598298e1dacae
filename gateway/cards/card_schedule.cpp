#include "gateway/cards/card_schedule.hpp"

#include <algorithm>

namespace gateway::cards {
namespace {

constexpr core::duration least_wait{1000};
constexpr unsigned most_doublings = 20;

}  // namespace

card_schedule::card_schedule(const config::card_settings& settings, std::uint64_t seed)
    : settings_{settings},
      random_{seed}
{
}

void card_schedule::add(const std::string& id, core::steady_time now, core::duration spread)
{
    auto& added = entries_[id];
    added.failures = 0;
    next_first_ = std::max(next_first_, now);
    set_due(id, added, next_first_ + part_of(spread, 0, 1));
    next_first_ += first_fetch_distance;
}

void card_schedule::remove(const std::string& id)
{
    if (const auto found = entries_.find(id); found != entries_.end()) {
        set_due(id, found->second, std::nullopt);
        entries_.erase(found);
    }
}

std::optional<std::string> card_schedule::take(core::steady_time now)
{
    if (order_.empty() || order_.begin()->first > now) {
        return std::nullopt;
    }
    auto id = order_.begin()->second;
    set_due(id, entries_[id], std::nullopt);
    return id;
}

void card_schedule::succeeded(const std::string& id, core::steady_time now, core::duration fresh_for)
{
    if (const auto found = entries_.find(id); found != entries_.end()) {
        found->second.failures = 0;
        set_due(id, found->second, now + std::max(least_wait, part_of(fresh_for, 0.75, 0.95)));
    }
}

void card_schedule::failed(const std::string& id, core::steady_time now)
{
    const auto found = entries_.find(id);
    if (found == entries_.end()) {
        return;
    }
    const auto shortest = std::max(least_wait, settings_.negative_ttl);
    const auto longest = std::max(shortest, settings_.ttl);
    const auto doublings = std::min(found->second.failures++, most_doublings);
    const auto wait = std::min(longest, shortest * (std::int64_t{1} << doublings));
    set_due(id, found->second, now + part_of(wait, 1, 1.5));
}

void card_schedule::set_due(const std::string& id, entry& agent, std::optional<core::steady_time> due)
{
    if (agent.due) {
        order_.erase({*agent.due, id});
    }
    agent.due = due;
    if (due) {
        order_.emplace(*due, id);
    }
}

core::duration card_schedule::part_of(core::duration whole, double least, double most)
{
    std::uniform_real_distribution<double> part{least, most};
    return core::duration{static_cast<std::int64_t>(static_cast<double>(whole.count()) * part(random_))};
}

}  // namespace gateway::cards
