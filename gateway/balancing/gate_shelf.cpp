#include "gateway/balancing/gate_shelf.hpp"

#include <chrono>

namespace gateway::balancing {

std::shared_ptr<const call_terms> gate_shelf::share(const call_terms& terms)
{
    if (latest_ == nullptr || *latest_ != terms) {
        latest_ = std::make_shared<const call_terms>(terms);
    }
    return latest_;
}

std::shared_ptr<call_gate> gate_shelf::get(const std::string& agent, const core::call_limits& limits)
{
    auto& place = known_[agent];
    auto found = place.lock();
    if (found == nullptr) {
        found = std::make_shared<call_gate>(limits, std::chrono::steady_clock::now);
        place = found;
    }
    if (known_.size() > most_) {
        std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
        most_ = 2 * known_.size();
    }
    return found;
}

}  // namespace gateway::balancing
