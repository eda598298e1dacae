#include "gateway/balancing/agent_reach.hpp"

namespace gateway::balancing {
namespace {

bool fits(const agent_reach& known, const reach_terms& terms)
{
    return known.group->rules() == terms.rules && known.group->consists_of(terms.members);
}

}  // namespace

std::shared_ptr<agent_reach> reach_shelf::get(const std::string& agent, const reach_terms& terms, core::steady_time now)
{
    auto& place = known_[agent];
    auto found = place.lock();
    if (found == nullptr || !fits(*found, terms)) {
        found = std::make_shared<agent_reach>(std::make_unique<endpoint_group>(terms.rules, terms.members, now));
        place = found;
    }
    if (known_.size() > most_) {
        std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
        most_ = 2 * known_.size();
    }
    return found;
}

}  // namespace gateway::balancing
