// Shared state of how an agent with several endpoints, or with one that is checked, is reached, and which threads
// still have it: as breaker_shelf for endpoints, so here for agents.
#pragma once

#include "gateway/balancing/endpoint_group.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::balancing {

struct agent_reach {
    std::unique_ptr<endpoint_group> group;  // not null
};

struct reach_terms {
    group_rules rules;
    std::vector<endpoint_group::member> members;  // at least one
};

// One thread.
class reach_shelf {
public:
    // The one of this agent if somebody still has it and it is the same; else another one.
    std::shared_ptr<agent_reach> get(const std::string& agent, const reach_terms& terms, core::steady_time now);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<agent_reach>> known_;
    std::size_t most_ = 64;  // beyond them those that nobody has are forgotten
};

}  // namespace gateway::balancing
