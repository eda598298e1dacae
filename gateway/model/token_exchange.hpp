// The exchange of a caller's token for one that its agent takes (RFC 8693). Values.
#pragma once

#include "core/agent_credentials.hpp"
#include "core/clock.hpp"
#include "core/secret.hpp"

#include <string>
#include <string_view>

namespace gateway::model {

struct exchange_request {
    std::string agent;              // its id
    core::oauth_client client;      // of the agent
    core::secret subject;           // the caller's token
    std::string_view subject_type;  // config::exchanged_as() of its provider
    core::secret refused;           // a token that the agent did not take; empty: none
    std::string principal{};        // whose token it is: provider and id
};

struct exchanged_token {
    core::secret text;
    core::steady_time until{};  // from then on it is not sent any more
};

}  // namespace gateway::model
