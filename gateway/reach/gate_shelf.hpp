// The gates of agents by their ids: whoever describes an agent again gets the gate that its calls know, as long as one of them does.
// One thread.
#pragma once

#include "gateway/reach/call_gate.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace gateway::reach {

class gate_shelf {
public:
    // The one of this agent if somebody still has it, by the limits that it has; else another one with these limits.
    std::shared_ptr<call_gate> get(const std::string& agent, const core::call_limits& limits);

    std::size_t size() const noexcept { return known_.size(); }

private:
    std::unordered_map<std::string, std::weak_ptr<call_gate>> known_;
    std::size_t most_ = 64;  // beyond them those that nobody has are forgotten
};

}  // namespace gateway::reach
