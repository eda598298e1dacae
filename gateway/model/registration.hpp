// POST /agent/register, on either listener: who registers an agent, and what that is answered. Values.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "gateway/responses/answer.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::model {

inline constexpr std::string_view registration_path = "/agent/register";

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
