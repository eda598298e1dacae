#include "gateway/management/rpc_parameters.hpp"

#include <algorithm>
#include <array>

namespace gateway::management {
namespace {

using core::errc;
using core::json;

constexpr std::array keys_of_agent{"id", "agentId", "name"};

}  // namespace

std::string agent_parameter(const json& params)
{
    for (const auto* key : keys_of_agent) {
        if (const auto* value = core::string_member(params, key)) {
            return *value;
        }
    }
    if (params.is_array() && params.size() == 1 && params.front().is_string()) {
        return params.front().get<std::string>();
    }
    return {};
}

bool names_agent(const json& params)
{
    return (params.is_array() && !params.empty()) ||
           std::ranges::any_of(keys_of_agent, [&](const auto* key) { return core::member(params, key) != nullptr; });
}

bool is_shown(const registered_agent& agent, const rpc_caller& caller)
{
    return !caller.shows || (agent.served() && caller.shows(agent.entry->record));
}

rpc_result denied(const core::rpc_request& request, core::errc why)
{
    rpc_result result{core::make_error(request.id, why)};
    result.denied = true;
    return result;
}

named_agent find_agent(const core::rpc_request& request, const registry& agents, const rpc_caller& caller)
{
    const auto id = agent_parameter(request.params);
    if (id.empty()) {
        return {nullptr, core::make_error(request.id, errc::invalid_params, {{"missing", "id"}})};
    }
    const auto* agent = agents.find(id);
    if (agent == nullptr || !is_shown(*agent, caller)) {
        return {nullptr, core::make_error(request.id, errc::agent_not_found, {{"agent", id}})};
    }
    return {agent, {}};
}

json problem_list(const std::vector<config::problem>& problems)
{
    auto list = json::array();
    for (const auto& each : problems) {
        list.push_back({{"path", each.key}, {"what", each.what}});
    }
    return list;
}

std::string refuse_params(const core::rpc_request& request, const std::vector<config::problem>& problems)
{
    return core::make_error(request.id, errc::invalid_params, {{"problems", problem_list(problems)}});
}

}  // namespace gateway::management
