// Requests of the management API: their senders, their parameters, their results, and the errors of wrong parameters. Pure.
#pragma once

#include "config/problem.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/model/published_card.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace gateway::management {

// The sender of a request.
struct rpc_caller : model::rpc_rights {
    std::stop_token left;  // once set, the caller has left and the work stops
};

// The answer to one request: a result or an error.
struct rpc_result {
    std::string text;
    std::shared_ptr<const model::card_bytes> card = nullptr;  // not null: the text goes on with it and card_end
    bool denied = false;                                      // an error: the caller lacks a right

    std::size_t size() const noexcept { return text.size() + (card ? card->body.size() + model::card_end.size() : 0); }
};

// `id`, `agentId` or `name`; or the first of positional parameters. Empty if there is none.
std::string agent_parameter(const core::json& params);

// Whether the parameters name one agent, readable or not.
bool names_agent(const core::json& params);

struct named_agent {
    const registered_agent* agent = nullptr;  // null: `refusal` answers the request
    std::string refusal;
};

// One that the caller may not know of is refused as one that does not exist.
named_agent find_agent(const core::rpc_request& request, const registry& agents, const rpc_caller& caller);

// Whether the caller may know of the agent.
bool is_shown(const registered_agent& agent, const rpc_caller& caller);

// The answer to a request for which the caller lacks a right.
rpc_result denied(const core::rpc_request& request, core::errc why);

// Path and wording of each.
core::json problem_list(const std::vector<config::problem>& problems);

// The answer invalid_params, with what is wrong with each parameter.
std::string refuse_params(const core::rpc_request& request, const std::vector<config::problem>& problems);

}  // namespace gateway::management
