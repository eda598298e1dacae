// Another token for a call whose agent has refused the one that it got. One thread.
#pragma once

#include "core/error.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/relay/relay_call.hpp"
#include "net/loop/routine.hpp"
#include "net/server/caller_exchange.hpp"

#include <string>
#include <string_view>

namespace gateway::relay {

// A token of the caller, and its type as RFC 8693 section 3 names it.
struct shown_token {
    std::string_view text;
    std::string_view type;
};

// The request for a token of the agent of the call in exchange for that one.
model::exchange_request exchange_of(const relay_call& call, const shown_token& shown, std::string principal);

// An agent that answers 401 has not done what it was asked for (RFC 9110 section 15.5.2): with another token it is asked once more.
// Puts that into the head of the call, and puts its deadline off, since the agent did not have that time.
// False: there is no other. Fails at call.deadline. All outlive the routine.
[[gnu::noinline]] net::routine<core::result<bool>>
renew_token(model::control_services& control, net::caller_exchange& caller, relay_call& call);

}  // namespace gateway::relay
