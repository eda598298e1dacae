#include "gateway/balancing/fair_queue.hpp"

#include <algorithm>
#include <chrono>

namespace gateway::balancing {

fair_queue::place fair_queue::push(std::uint64_t ticket, std::uint64_t caller, core::steady_time now)
{
    if (size() >= length_) {
        return place::full;
    }
    const auto found = lines_.find(caller);
    const auto own = found == lines_.end() ? 0 : found->second.calls.size();
    if (own >= std::max<std::size_t>(length_ / 2, 1)) {
        return place::share;
    }
    auto& mine = lines_[caller];
    mine.calls.push_back({ticket, now});
    callers_of_.emplace(ticket, caller);
    if (own == 0) {
        mine.turn = turns_.insert(turns_.end(), caller);
    }
    return place::waits;
}

std::optional<std::uint64_t> fair_queue::pop(core::steady_time now, const admission& admits)
{
    if (turns_.empty()) {
        newest_first_ = false;
        return std::nullopt;
    }
    const auto turn = std::ranges::find_if(turns_, [&](auto each) { return !admits || admits(each); });
    if (turn == turns_.end()) {
        return std::nullopt;
    }
    const auto caller = *turn;
    auto& mine = lines_[caller];
    const auto call = newest_first_ ? std::prev(mine.calls.end()) : mine.calls.begin();
    const auto next = *call;
    turns_.splice(turns_.end(), turns_, mine.turn);
    leave(caller, call);
    record_wait(std::chrono::duration_cast<core::duration>(now - next.since), now);
    return next.ticket;
}

bool fair_queue::remove(std::uint64_t ticket)
{
    const auto found = callers_of_.find(ticket);
    if (found == callers_of_.end()) {
        return false;
    }
    const auto caller = found->second;
    auto& calls = lines_[caller].calls;
    leave(caller, std::ranges::find(calls, ticket, &waiting::ticket));
    return true;
}

void fair_queue::leave(std::uint64_t caller, std::deque<waiting>::iterator call)
{
    auto& mine = lines_[caller];
    callers_of_.erase(call->ticket);
    mine.calls.erase(call);
    if (mine.calls.empty()) {
        turns_.erase(mine.turn);
        lines_.erase(caller);
    }
}

void fair_queue::record_wait(core::duration wait, core::steady_time now) noexcept
{
    if (now >= interval_end_) {
        newest_first_ = shortest_ && *shortest_ > patience;
        shortest_.reset();
        interval_end_ = now + interval;
    }
    shortest_ = std::min(shortest_.value_or(wait), wait);
}

}  // namespace gateway::balancing
