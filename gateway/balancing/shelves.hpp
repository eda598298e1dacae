// The breakers of endpoints by their names, and the gates and groups of agents by their ids: an agent that is described again gets
// those that its calls have, as long as one of them does. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/endpoint_rules.hpp"
#include "gateway/balancing/breaker.hpp"
#include "gateway/balancing/call_gate.hpp"
#include "gateway/balancing/endpoint_group.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gateway::balancing {

// How an agent is reached that has several endpoints, or one that is checked: shared by all threads.
struct agent_reach {
    std::unique_ptr<endpoint_group> group;  // not null
};

struct reach_terms {
    group_rules rules;
    std::vector<endpoint_group::member> members;  // at least one
};

class reach_shelf {
public:
    // The one of this agent if somebody still has it and it is the same; else another one.
    std::shared_ptr<agent_reach> get(const std::string& agent, const reach_terms& terms, core::steady_time now);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<agent_reach>> known_;
    std::size_t most_ = 64;  // beyond them those that nobody has are forgotten
};

class breaker_shelf {
public:
    // The one of this name if it is still in use and has the same settings; else another one.
    std::shared_ptr<breaker>
    get(const std::string& endpoint, const core::breaker_settings& settings, core::steady_time now);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<breaker>> known_;
    std::shared_ptr<const core::breaker_settings> latest_;  // mostly those of the next one too
    std::size_t most_ = 64;                                 // beyond them those that nobody has are forgotten
};

// The limits of an agent's calls.
struct call_terms {
    core::call_limits limits;
    core::retry_settings retry;

    friend bool operator==(const call_terms&, const call_terms&) = default;
};

class gate_shelf {
public:
    // Equal terms that were asked for one after the other, as those of most agents are, are one.
    std::shared_ptr<const call_terms> share(const call_terms& terms);

    // The one of this agent if it is still in use, with its limits; else another one with these limits.
    std::shared_ptr<call_gate> get(const std::string& agent, const core::call_limits& limits);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<call_gate>> known_;
    std::shared_ptr<const call_terms> latest_;
    std::size_t most_ = 64;  // beyond them those that nobody has are forgotten
};

}  // namespace gateway::balancing
