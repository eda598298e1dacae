// Credentials of callers between the gates of workers and the control loop, which knows those who can say whose they are.
#pragma once

#include "core/access.hpp"
#include "core/agent_credentials.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::model {

// A caller's credential about which somebody has to be asked. A value.
struct presented_credential {
    core::credential_place place = core::credential_place::header;
    std::string field;  // its name at that place; empty: a bearer token
    std::string text;
    std::uint64_t sender = 0;  // which address has sent it (access::number_of())
};

// A caller's credential that a provider has accepted. A value.

inline constexpr std::chrono::seconds longest_acceptance{60};  // then a credential is looked at again

struct accepted_credential {
    std::shared_ptr<const core::principal> owner;    // not null
    core::wall_time until = core::wall_time::max();  // from then on it has to be looked at again
    // Its own end. Until then it may count for as long again as it was accepted while it is looked at again; the default: not at all.
    core::wall_time ends{};
    bool is_key = false;  // of the configuration, whose first use is noted
};

// Questions of the gates to the control loop.
struct credential_checks {
    net::executor executor;  // tasks of verify() run there

    // The owner of this credential, by the providers that need time to say so. Fails with unauthenticated and access_unavailable.
    std::function<net::task<core::result<accepted_credential>>(presented_credential presented)> verify;
};

// The exchange of a caller's token for one that its agent takes (RFC 8693). Values.
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
