// A look at the body of an answer that may still go to the caller as it is.
#pragma once

#include "gateway/traffic/agent_exchange.hpp"
#include "gateway/traffic/exchange_wait.hpp"
#include "net/server/server_connection.hpp"

#include <cstddef>
#include <string>

namespace gateway::traffic {

// After agent_exchange::begin() of `agent`: the body, if it comes whole within so many bytes and soon; else empty. It stays to be
// read. References outlive the routine.
net::routine<std::string>
peek_body(net::server_connection& caller, agent_exchange& agent, exchange_wait& wait, std::size_t limit);

}  // namespace gateway::traffic
