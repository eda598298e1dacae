#include "gateway/management/call_book.hpp"

#include <algorithm>

namespace gateway::management {
namespace {

std::int64_t number_of(core::steady_time time) noexcept
{
    return time.time_since_epoch() / call_window::step;
}

constexpr std::size_t looked_at = 256;  // buckets at a time, so that no turn of the loop is long

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

void call_book::add(const std::vector<model::call_note>& notes, core::steady_time now)
{
    for (const auto& each : notes) {
        const auto* const address = find_(each.agent);
        if (address == nullptr || each.calls == 0) {
            continue;
        }
        auto& known = pages_[each.agent];
        if (known.address != *address) {
            known = {.address = *address};
        }
        known.window.add(each.calls, each.failures, now);
        known.worked = known.worked || each.successes > 0;
    }
    drop_gone();
}

call_facts call_book::facts(const std::string& id, core::steady_time now) const
{
    const auto known = pages_.find(id);
    const auto* const address = known == pages_.end() ? nullptr : find_(id);
    if (address == nullptr || *address != known->second.address) {
        return {};
    }
    return {known->second.worked, known->second.window.failing(now)};
}

void call_book::drop_gone()
{
    if (pages_.empty()) {
        return;
    }
    const auto buckets = pages_.bucket_count();
    std::vector<std::string> gone;
    for (std::size_t i = 0; i < std::min(looked_at, buckets); ++i) {
        bucket_ = (bucket_ + 1) % buckets;
        for (auto each = pages_.cbegin(bucket_); each != pages_.cend(bucket_); ++each) {
            if (find_(each->first) == nullptr) {
                gone.push_back(each->first);
            }
        }
    }
    for (const auto& id : gone) {
        pages_.erase(id);
    }
}

}  // namespace gateway::management
