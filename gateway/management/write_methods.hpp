// Methods that change agents, and their trail: agents/upsert, agents/delete, agents/reset, agents/changes, and the registrations of agents
// (gateway/management/agent_registration.hpp). On the control loop's thread.
#pragma once

#include "config/problem.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/read_methods.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/management/rpc_parameters.hpp"
#include "gateway/model/management_call.hpp"
#include "net/loop/types.hpp"

#include <string>
#include <vector>

namespace gateway::management {

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
    std::string refuse_write(const core::rpc_request& request, const std::string& id, const core::error& why) const;

    registry& registry_;
    cards::card_plane& cards_;
    const read_methods& reads_;
};

}  // namespace gateway::management
