#include "gateway/request/agent_origins.hpp"

#include "config/agent_hosts.hpp"
#include "core/ascii.hpp"
#include "core/host_names.hpp"
#include "gateway/responses/host_policy.hpp"

#include <algorithm>
#include <array>

namespace gateway::request {

agent_origins::agent_origins(const config::process_settings& settings, const local_snapshot& known)
    : pattern_{settings.agent_hosts},
      known_{known},
      own_{config::own_hosts(settings)}
{
}

bool agent_origins::is_own(std::string_view name) const noexcept
{
    return std::ranges::find(own_, name) != own_.end();
}

std::optional<agent_origin> agent_origins::find(std::string_view authority) const
{
    if (pattern_.empty() && !known_.has_hosts()) {
        return std::nullopt;
    }
    auto host = net::http1::host_of(authority);
    host.remove_suffix(host.ends_with('.') ? 1 : 0);
    if (host.empty() || host.size() > core::longest_host_name) {
        return std::nullopt;
    }
    std::array<char, core::longest_host_name> space{};
    std::ranges::transform(host, space.begin(), core::lower);
    const std::string_view name{space.data(), host.size()};
    const auto* known = known_.find_by_host(name);
    if (known == nullptr) {
        if (known_.knows_host(name)) {
            return agent_origin{nullptr, {}, host, known_.find_disabled_by_host(name)};
        }
        const auto id = core::agent_of_host(pattern_, name);
        if (id.empty() || is_own(name)) {
            return std::nullopt;
        }
        known = known_.find(id);
        if (known == nullptr) {
            // Without an id: in the spelling of the request it could be that of an agent with capitals, whose name this is not.
            return agent_origin{nullptr, {}, host, known_.find_disabled(id)};
        }
    }
    const auto& names = known->entry->hosts;
    const auto kept = std::ranges::find(names, name);
    if (kept == names.end()) {
        return std::nullopt;
    }
    return agent_origin{known->entry, known->entry->record.id, *kept};
}

}  // namespace gateway::request
