#include "gateway/traffic/local_snapshot.hpp"

#include <utility>

namespace gateway::traffic {

const local_snapshot::known_agent* local_snapshot::find(std::string_view id) const
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? nullptr : &found->second;
}

void local_snapshot::replace(const model::snapshot& snapshot)
{
    std::erase_if(agents_, [&](const auto& each) { return !snapshot.agents.contains(each.first); });
    for (const auto& [id, entry] : snapshot.agents) {
        agents_[id].entry = entry;
    }
    key_set_ = snapshot.key_set;
    public_base_ = snapshot.public_base;
    ++version_;
}

void local_snapshot::set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> entry)
{
    ++version_;
    if (entry != nullptr) {
        agents_[id].entry = std::move(entry);
    } else {
        agents_.erase(id);
    }
}

void local_snapshot::set_card(const std::string& id, std::shared_ptr<const model::published_card> card)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    auto& known = found->second.card;
    const bool same = known && card && known->bytes == card->bytes;
    if (!same) {
        ++version_;
    }
    known = std::move(card);
}

}  // namespace gateway::traffic
