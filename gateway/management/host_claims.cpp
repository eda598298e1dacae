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
    if (std::ranges::find(own_, name) != own_.end()) {
        return config::claimed_by_gateway(name);
    }
    const auto other = owner(name);
    return other.empty() || other == id ? std::nullopt : std::optional{config::claimed_by_agent(name, other)};
}

std::string_view host_claims::owner(std::string_view name) const
{
    const auto found = owners_.find(name);
    return found == owners_.end() ? std::string_view{} : found->second;
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
