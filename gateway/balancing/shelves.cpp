#include "gateway/balancing/shelves.hpp"

#include <chrono>
#include <random>

namespace gateway::balancing {
namespace {

bool fits(const agent_reach& known, const reach_terms& terms)
{
    return known.group->rules() == terms.rules && known.group->consists_of(terms.members);
}

template <class Known>
void forget_unused(Known& known, std::size_t& most)
{
    if (known.size() > most) {
        std::erase_if(known, [](const auto& each) { return each.second.expired(); });
        most = 2 * known.size();
    }
}

double any_share()
{
    thread_local std::minstd_rand engine{std::random_device{}()};
    return std::uniform_real_distribution{0.0, 1.0}(engine);
}

}  // namespace

std::shared_ptr<agent_reach> reach_shelf::get(const std::string& agent, const reach_terms& terms, core::steady_time now)
{
    auto& place = known_[agent];
    auto found = place.lock();
    if (found == nullptr || !fits(*found, terms)) {
        found = std::make_shared<agent_reach>(std::make_unique<endpoint_group>(terms.rules, terms.members, now));
        place = found;
    }
    forget_unused(known_, most_);
    return found;
}

std::shared_ptr<breaker>
breaker_shelf::get(const std::string& endpoint, const core::breaker_settings& settings, core::steady_time now)
{
    auto& place = known_[endpoint];
    auto found = place.lock();
    if (found == nullptr || found->settings() != settings) {
        if (latest_ == nullptr || *latest_ != settings) {
            latest_ = std::make_shared<const core::breaker_settings>(settings);
        }
        found = std::make_shared<breaker>(breaker::shared_settings{latest_}, now, any_share);
        place = found;
    }
    forget_unused(known_, most_);
    return found;
}

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
    forget_unused(known_, most_);
    return found;
}

}  // namespace gateway::balancing
