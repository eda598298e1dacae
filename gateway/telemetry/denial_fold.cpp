#include "gateway/telemetry/denial_fold.hpp"

namespace gateway::telemetry {

void denial_fold::add(const model::denied_requests& requests, core::steady_time now)
{
    kind of{requests.reason, requests.principal, requests.provider, requests.agent};
    const auto found = kept_.find(of);
    if (found != kept_.end()) {
        auto& folded = found->second.folded;
        folded.count += requests.count;
        folded.address = requests.address;
        return;
    }
    caller by{requests.principal, requests.provider};
    const auto held = shares_.find(by);
    if (kept_.size() == most || (held != shares_.end() && held->second == share)) {
        dropped_ += requests.count;
        return;
    }
    ++shares_[std::move(by)];
    take_(requests);
    auto& added = kept_.emplace(std::move(of), kept{requests, now + window}).first->second;
    added.folded.count = 0;
}

void denial_fold::sweep(core::steady_time now)
{
    for (auto at = kept_.begin(); at != kept_.end();) {
        auto& [folded, until] = at->second;
        if (now < until) {
            ++at;
        } else if (folded.count == 0) {
            const auto held = shares_.find({folded.principal, folded.provider});
            if (--held->second == 0) {
                shares_.erase(held);
            }
            at = kept_.erase(at);
        } else {
            take_(folded);
            folded.count = 0;
            until = now + window;
            ++at;
        }
    }
}

void denial_fold::end()
{
    for (const auto& [of, kept] : kept_) {
        if (kept.folded.count > 0) {
            take_(kept.folded);
        }
    }
    kept_.clear();
    shares_.clear();
}

}  // namespace gateway::telemetry
