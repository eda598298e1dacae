#include "gateway/grpc/agent_choice.hpp"

#include <utility>

namespace gateway::grpc {
namespace {

core::error contradiction()
{
    return core::caller_error(core::errc::agent_unnamed, "two agents are named");
}

// The tenant behind the id of the agent.
agent_choice named_by_tenant(std::string_view id, std::string_view tenant)
{
    const auto rest = tenant.size() > id.size() ? tenant.substr(id.size() + 1) : std::string_view{};
    return {std::string{id}, std::string{rest}, true};
}

}  // namespace

core::result<agent_choice> choose_agent(const named_agents& from, const has_tenant& knows)
{
    const auto in_tenant = from.tenant.substr(0, from.tenant.find('/'));
    if (!from.host.empty() && !from.metadata.empty() && from.host != from.metadata) {
        return contradiction();
    }
    const auto outside = from.host.empty() ? from.metadata : from.host;
    if (!outside.empty()) {
        if (!from.tenant.empty() && in_tenant == outside) {
            return named_by_tenant(outside, from.tenant);
        }
        if (!from.tenant.empty() && !knows(outside, from.tenant)) {
            return contradiction();
        }
        return agent_choice{std::string{outside}, std::string{from.tenant}, false};
    }
    if (!from.default_agent.empty() && (from.tenant.empty() || knows(from.default_agent, from.tenant))) {
        return agent_choice{std::string{from.default_agent}, std::string{from.tenant}, false};
    }
    if (!in_tenant.empty()) {
        return named_by_tenant(in_tenant, from.tenant);
    }
    return core::caller_error(
        core::errc::agent_unnamed,
        from.tenant.empty() ? "no agent is named" : "a tenant without an id"
    );
}

}  // namespace gateway::grpc
