// All agents, one after the other, without holding the loop. On the control loop's thread.
#pragma once

#include "gateway/management/registry.hpp"
#include "gateway/threads/turns.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace gateway::management {

// Whether the next one is wanted is what it answers.
using agent_visitor = std::function<bool(const std::string& id, const registered_agent& agent)>;

// Visits the agents behind `after` in the order of their ids, each once, in turns, until `left` says that nobody waits for it.
// Between two turns agents may come and go: one that is there all the time is visited. Gives whether agents follow the one
// at which the visitor had enough. References outlive the walk.
net::task<bool>
walk_agents(const registry& agents, threads::turns& by, std::string after, agent_visitor each, std::stop_token left);

}  // namespace gateway::management
