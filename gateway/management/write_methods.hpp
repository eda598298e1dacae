// Methods that change agents, and their trail: agents/upsert, agents/delete, agents/reset, agents/changes, and the registrations of agents
// themselves. On the control loop's thread.
#pragma once

#include "config/problem.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/read_methods.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/management_call.hpp"
#include "net/loop/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// Agents that register themselves, as AgentUp's do at their start: POST /agent/register with `agent_url`, `name`,
// `version`, `agent_card_url`, `description` (AgentUp, src/agent/services/agent_registration.py, October 2025). It means
// agents/upsert, with its checks, its durability and its line of the audit trail. Pure.

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

// Result of a registration.
struct enrolled {
    std::string agent;                                // its id; empty: there is none
    core::result<core::json> outcome = core::json{};  // what is answered, or why nothing was changed
    std::vector<config::problem> problems;            // of invalid_params
};

class write_methods {
public:
    // References outlive it.
    write_methods(registry& agents, cards::card_plane& cards, const read_methods& reads);

    // References outlive the tasks.
    net::task<rpc_result> upsert(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result> remove(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    // Closes the breaker of an agent; the agent itself is not changed.
    net::task<rpc_result> reset(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result> changes(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

    // The body of POST /agent/register. To register again with the same is no change. Who is no operator changes agents that
    // it has registered itself, and no others (forbidden).
    net::task<enrolled> enroll(std::string body, model::registrant by);

private:
    void fetch_first(const std::string& id);
    std::string refuse_write(const core::rpc_request& request, const std::string& id, const core::error& why) const;

    registry& registry_;
    cards::card_plane& cards_;
    const read_methods& reads_;
};

}  // namespace gateway::management
