#include "gateway/management/host_claims.hpp"

#include "config/agent_hosts.hpp"

#include <algorithm>

namespace gateway::management {

host_claims::host_claims(const config::process_settings& settings)
    : own_{config::own_hosts(settings)}
{
}

std::optional<std::string> host_claims::refusal(std::string_view name, std::string_view id) const
{
    if (is_own(name)) {
        return config::claimed_by_gateway(name);
    }
    const auto other = owner(name);
    return other.empty() || other == id ? std::nullopt : std::optional{config::claimed_by_agent(name, other)};
}

bool host_claims::is_own(std::string_view name) const noexcept
{
    return std::ranges::find(own_, name) != own_.end();
}

std::string_view host_claims::owner(std::string_view name) const
{
    if (const auto found = owners_.find(name); found != owners_.end()) {
        return found->second;
    }
    const auto held = held_->find(name);
    return held == held_->end() ? std::string_view{} : held->second.id;
}

std::shared_ptr<const void> host_claims::hold(const model::agent_entry& agent)
{
    for (const auto& name : agent.hosts) {
        auto& each = (*held_)[name];
        each.id = agent.record.id;
        ++each.holds;
    }
    return {nullptr, [held = held_, names = agent.hosts](const void*) {
                for (const auto& name : names) {
                    const auto each = held->find(name);
                    if (each != held->end() && --each->second.holds == 0) {
                        held->erase(each);
                    }
                }
            }};
}

void host_claims::release(const std::set<std::string_view>& ids)
{
    std::erase_if(owners_, [&](const auto& each) { return ids.contains(each.second); });
}

void host_claims::move(const model::agent_entry* was, const model::agent_entry* now)
{
    static const std::vector<std::string> none;
    for (const auto& name : was == nullptr ? none : was->hosts) {
        if (owner(name) == was->record.id) {
            owners_.erase(name);
        }
    }
    for (const auto& name : now == nullptr ? none : now->hosts) {
        owners_.insert_or_assign(name, now->record.id);
    }
}

}  // namespace gateway::management
