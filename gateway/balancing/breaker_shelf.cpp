#include "gateway/balancing/breaker_shelf.hpp"

#include <random>

namespace gateway::balancing {
namespace {

double any_share()
{
    thread_local std::minstd_rand engine{std::random_device{}()};
    return std::uniform_real_distribution{0.0, 1.0}(engine);
}

}  // namespace

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
    if (known_.size() > most_) {
        std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
        most_ = 2 * known_.size();
    }
    return found;
}

}  // namespace gateway::balancing
