// Handles an answer that may say that the agent has not carried the call out: a look at its body, and the call once more.
#pragma once

#include "gateway/relay/agent_exchange.hpp"
#include "gateway/relay/exchange_wait.hpp"
#include "gateway/relay/relay_call.hpp"
#include "net/server/server_connection.hpp"

namespace gateway::relay {

// After agent_exchange::begin() of `agent`, for a call with a repair: sends the call again as often as that helps. The last answer stays
// to be read. Fails as the repair does, and as agent_exchange::begin(). References outlive the routine.
net::routine<core::result<>>
repair_call(net::server_connection& caller, agent_exchange& agent, exchange_wait& wait, relay_call& call);

}  // namespace gateway::relay
