#include "gateway/management/call_book.hpp"

namespace gateway::management {

void call_book::add(const std::vector<model::call_note>& notes, core::steady_time now)
{
    for (const auto& each : notes) {
        const auto* const address = find_(each.agent);
        if (address == nullptr) {
            continue;
        }
        auto& known = pages_[each.agent];
        if (known.address != *address) {
            known = {.address = *address};
        }
        known.window.add(each.calls, each.failures, now);
        known.worked = known.worked || each.calls > each.failures;
    }
    if (now >= drop_at_) {
        drop_gone(now);
    }
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

void call_book::drop_gone(core::steady_time now)
{
    std::erase_if(pages_, [this](const auto& each) { return find_(each.first) == nullptr; });
    drop_at_ = now + call_window::span;
}

}  // namespace gateway::management
