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
        if (called_.capacity() < agents_.size()) {
            called_.reserve(2 * agents_.size());  // now, so that no later call has to
        }
    }
    auto& ended = found->second;
    if (ended.calls++ == 0) {
        called_.push_back(&*found);
    }
    ended.failures += verdict == model::call_verdict::failed ? 1 : 0;
    ended.successes += verdict == model::call_verdict::worked ? 1 : 0;
}

std::vector<model::call_note> call_tally::take(core::steady_time now)
{
    std::vector<model::call_note> notes;
    if (called_.empty() || now < next_) {
        return notes;
    }
    const auto told = std::min(called_.size(), most);
    notes.reserve(told);
    for (std::size_t i = 0; i < told; ++i) {
        auto& [id, ended] = *called_[i];
        notes.push_back({id, ended.calls, ended.failures, ended.successes});
        ended = {};
    }
    called_.erase(called_.begin(), called_.begin() + static_cast<std::ptrdiff_t>(told));
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
