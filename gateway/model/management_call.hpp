// Calls of the management API and their answers, which pass from the control loop to the caller's: POST /rpc, and POST
// /agent/register on either listener.
#pragma once

#include "config/settings.hpp"
#include "core/access.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/memory_budget.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/responses/answer.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::model {

// Closes the result and the answer after a card that ends them.
inline constexpr std::string_view card_end = "}}";

// Rights of a caller of the management API.
struct rpc_rights {
    bool may_write = false;       // change agents, and have cards fetched
    std::string who;              // for the audit trail; empty: nobody in particular
    core::principal_name self{};  // whose credential it was; empty: none was needed
    // Which agents it may know of, and no more of them than callers are to know; empty: all of all agents, with their addresses.
    std::function<bool(const core::agent&)> shows{};
};

// Answer to one body of POST /rpc.
struct rpc_answer {
    std::string body;                        // empty: nothing may be answered (notifications only)
    std::shared_ptr<const card_bytes> card;  // not null: the body goes on with this card, as it is served, and card_end
    std::string_view method;  // for the log: a management method, "other", "batch", or empty for what is no request
    bool denied = false;      // the caller lacks a right that a request of it needs
    std::optional<core::errc> refused;  // overloaded or caller_gone: nothing but that is answered
    core::memory_share memory;          // what the answer takes; for as long as it exists
};

// The most that a body of the management API may have, in bytes: `limits.body`, but no more than a card and what stands
// around it, because the control loop reads it in one go.
inline std::uint64_t management_body(const config::limit_settings& limits, std::uint64_t largest_card) noexcept
{
    return std::min(limits.body, largest_card + card_envelope);
}

inline constexpr std::string_view registration_path = "/agent/register";

// Whoever registers an agent.
struct registrant {
    std::string who;        // for the audit trail
    bool operates = false;  // an operator, who may name any address, and any agent that no configuration declares
    std::string owns_as{};  // core::agent::registered_by of the agents that it may change, if it is no operator
};

// `registered_by` of an agent that this principal registers.
inline std::string registered_by(const core::principal& who)
{
    return who.provider == core::registration_owner ? std::string{} : who.provider + ' ' + who.id;
}

struct registration_answer {
    responses::answer reply;
    std::optional<core::error> refused;  // why the agent is not registered; nullopt: it is
};

}  // namespace gateway::model
