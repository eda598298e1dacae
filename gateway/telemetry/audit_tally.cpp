#include "gateway/telemetry/audit_tally.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::telemetry {

void audit_tally::note(const model::request_record& record)
{
    if (!on_ || !record.denied) {
        return;
    }
    const auto of_caller = [&](const model::denied_requests& each) {
        return each.principal == record.principal && each.provider == record.provider;
    };
    const auto same = [&](const model::denied_requests& each) {
        return each.reason == *record.denied && each.agent == record.denied_agent && of_caller(each);
    };
    const auto address = record.client.empty() ? record.peer : record.client;
    const auto found = std::ranges::find_if(notes_.denied, same);
    if (found != notes_.denied.end()) {
        ++found->count;
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

}  // namespace gateway::telemetry
