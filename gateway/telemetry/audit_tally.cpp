#include "gateway/telemetry/audit_tally.hpp"

#include "core/utf8.hpp"
#include "gateway/telemetry/mcp_counters.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::telemetry {
namespace {

std::string_view method_of(const model::request_record& record) noexcept
{
    if (record.rpc_method) {
        return ::a2a::name(*record.rpc_method);
    }
    return record.mcp_method ? method_label(*record.mcp_method) : record.management_method;
}

}  // namespace

void audit_tally::note(const model::request_record& record)
{
    if (!on_ || !record.denied) {
        return;
    }
    const auto of_caller = [&](const model::denied_requests& each) {
        return each.principal == record.principal && each.provider == record.provider;
    };
    const auto method = method_of(record);
    const auto rule = record.rule.empty() ? std::string_view{"none"} : record.rule;
    const auto same = [&](const model::denied_requests& each) {
        return each.reason == *record.denied && each.agent == record.denied_agent && each.rule == rule &&
               of_caller(each);
    };
    const auto address = record.client.empty() ? record.peer : record.client;
    const auto found = std::ranges::find_if(notes_.denied, same);
    if (found != notes_.denied.end()) {
        ++found->count;
        found->method = method;
        found->tool = core::cut_utf8(record.tool, model::audit_trail::longest_text);
        found->address = address;
    } else if (notes_.denied.size() == most ||
               static_cast<std::size_t>(std::ranges::count_if(notes_.denied, of_caller)) == share) {
        ++notes_.dropped;
    } else {
        notes_.denied.push_back(
            {.principal = std::string{record.principal},
             .provider = std::string{record.provider},
             .agent = std::string{record.denied_agent},
             .reason = *record.denied,
             .rule = std::string{rule},
             .method = std::string{method},
             .tool = std::string{core::cut_utf8(record.tool, model::audit_trail::longest_text)},
             .address = std::string{address}}
        );
    }
}

void audit_tally::note_key(const core::principal& owner)
{
    // A key that finds no room is accepted again within a minute.
    if (on_ && notes_.keys.size() < most) {
        notes_.keys.push_back({owner.provider, owner.id});
    }
}

model::audit_notes audit_tally::take()
{
    return std::exchange(notes_, {});
}

void denial_fold::add(const model::denied_requests& requests, core::steady_time now)
{
    kind of{requests.reason, requests.principal, requests.provider, requests.agent, requests.rule};
    const auto found = kept_.find(of);
    if (found != kept_.end()) {
        auto& folded = found->second.folded;
        folded.count += requests.count;
        folded.method = requests.method;
        folded.tool = requests.tool;
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
