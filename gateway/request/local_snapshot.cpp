#include "gateway/request/local_snapshot.hpp"

#include <utility>
#include <vector>

namespace gateway::request {

const known_agent* local_snapshot::find(std::string_view id) const
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? nullptr : &found->second;
}

const known_agent* local_snapshot::find_by_host(std::string_view name) const
{
    const auto found = hosts_.find(name);
    return found == hosts_.end() ? nullptr : find(found->second);
}

std::shared_ptr<const model::agent_entry> local_snapshot::find_disabled(std::string_view id) const
{
    if (disabled_.empty()) {  // as nearly always, and each call asks
        return nullptr;
    }
    const auto found = disabled_.find(id);
    return found == disabled_.end() ? nullptr : found->second;
}

std::shared_ptr<const model::agent_entry> local_snapshot::find_disabled_by_host(std::string_view name) const
{
    const auto found = hosts_.find(name);
    return found == hosts_.end() ? nullptr : find_disabled(found->second);
}

void local_snapshot::replace(const model::snapshot& snapshot)
{
    std::erase_if(agents_, [&](const auto& each) { return !snapshot.agents.contains(each.first); });
    hosts_.clear();
    for (const auto& [id, entry] : snapshot.agents) {
        agents_[id].entry = entry;
        move_hosts(id, nullptr, entry.get());
    }
    disabled_ = snapshot.disabled;
    for (const auto& [id, entry] : disabled_) {
        move_hosts(id, nullptr, entry.get());
    }
    key_set_ = snapshot.key_set;
    public_base_ = snapshot.public_base;
    ++version_;
}

void local_snapshot::set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> entry)
{
    ++version_;
    const auto* before = find(id);
    const auto idle = disabled_.find(id);
    const auto* named = before != nullptr         ? before->entry.get()
                        : idle != disabled_.end() ? idle->second.get()
                                                  : nullptr;
    move_hosts(id, named, entry.get());
    if (idle != disabled_.end()) {
        disabled_.erase(idle);
    }
    if (entry != nullptr && !entry->record.disabled) {
        agents_[id].entry = std::move(entry);
        return;
    }
    agents_.erase(id);
    if (entry != nullptr) {
        disabled_.emplace(id, std::move(entry));
    }
}

// While a name goes from one agent to another, the one that has it now may be told of first.
void local_snapshot::move_hosts(const std::string& id, const model::agent_entry* before, const model::agent_entry* now)
{
    static const std::vector<std::string> none;
    for (const auto& name : before == nullptr ? none : before->record.hosts) {
        if (const auto found = hosts_.find(name); found != hosts_.end() && found->second == id) {
            hosts_.erase(found);
        }
    }
    for (const auto& name : now == nullptr ? none : now->record.hosts) {
        hosts_.insert_or_assign(name, id);
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
    found->second.refresh_asked = false;
}

}  // namespace gateway::request
