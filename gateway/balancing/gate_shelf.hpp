// The gates of agents by their ids: whoever describes an agent again gets the gate that its calls know, as long as one of them does.
// One thread.
#pragma once

#include "core/endpoint_rules.hpp"
#include "gateway/balancing/call_gate.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace gateway::balancing {

// Limits of the calls of an agent.
struct call_terms {
    core::call_limits limits;
    core::retry_settings retry;

    friend bool operator==(const call_terms&, const call_terms&) = default;
};

class gate_shelf {
public:
    // Equal terms that were asked for one after the other, as those of most agents are, are one.
    std::shared_ptr<const call_terms> share(const call_terms& terms);

    // The one of this agent if somebody still has it, by the limits that it has; else another one with these limits.
    std::shared_ptr<call_gate> get(const std::string& agent, const core::call_limits& limits);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<call_gate>> known_;
    std::shared_ptr<const call_terms> latest_;
    std::size_t most_ = 64;  // beyond them those that nobody has are forgotten
};

}  // namespace gateway::balancing
