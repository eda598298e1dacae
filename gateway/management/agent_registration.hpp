// Agents that register themselves, as AgentUp's do at their start: POST /agent/register with `agent_url`, `name`,
// `version`, `agent_card_url`, `description` (AgentUp, src/agent/services/agent_registration.py, October 2025). It means
// agents/upsert, with its checks, its durability and its line of the audit trail. Pure.
#pragma once

#include "config/problem.hpp"
#include "core/json/json.hpp"
#include "gateway/model/management_call.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

struct registration {
    std::string id;  // made of the name; empty: nothing can be made of it
    std::string url;
    std::string card_url;  // empty: not given
    std::string version;   // empty: not given
    std::string name;
    std::string description;  // empty: not given
    std::vector<config::problem> problems;
};

// Members that AgentUp does not send are not looked at.
registration read_registration(const core::json& body);

// The agent's definition after it has registered. `stored` is the previous one, or null. What an operator has added to it
// (a bearer, relay_paths, ...) stays if both addresses are at the previous origins: credentials go along to no other. Unless
// `by` is an operator, the agent is one that registered itself, and belongs to `by`.
core::json definition_of(const registration& asked, const core::json& stored, const model::registrant& by);

// Whether `by` may replace the stored definition. Who is no operator may replace those of agents that it registered itself.
bool may_replace(const model::registrant& by, const core::json& stored);

// A key of a definition's problem, such as `agent.card_url`, as the member of the registration that it came from.
std::string registered_key(std::string_view key);

}  // namespace gateway::management
