#include "gateway/telemetry/call_tally.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::telemetry {

void call_tally::note(const model::request_record& record)
{
    const auto verdict = model::verdict_of(record);
    if (verdict == model::call_verdict::unknown) {
        return;
    }
    auto found = agents_.find(record.agent);
    if (found == agents_.end()) {
        found = agents_.try_emplace(std::string{record.agent}).first;
    }
    auto& ended = found->second;
    if (ended.calls++ == 0) {
        called_.push_back(&*found);
    }
    ended.failures += verdict == model::call_verdict::failed ? 1 : 0;
}

std::vector<model::call_note> call_tally::take(core::steady_time now)
{
    std::vector<model::call_note> notes;
    if (called_.empty() || now < next_) {
        return notes;
    }
    notes.reserve(std::min(called_.size(), most));
    while (!called_.empty() && notes.size() < most) {
        auto& [id, ended] = *called_.back();
        called_.pop_back();
        notes.push_back({id, ended.calls, ended.failures});
        ended = {};
    }
    if (called_.empty()) {
        next_ = now + interval;
    }
    return notes;
}

void call_tally::forget(std::string_view id)
{
    const auto found = agents_.find(id);
    if (found != agents_.end()) {
        std::erase(called_, &*found);
        agents_.erase(found);
    }
}

void call_tally::forget_unless(const std::function<bool(std::string_view id)>& exists)
{
    std::erase_if(called_, [&](const auto* each) { return !exists(each->first); });
    std::erase_if(agents_, [&](const auto& each) { return !exists(each.first); });
}

}  // namespace gateway::telemetry
