#include "gateway/telemetry/key_uses.hpp"

#include <algorithm>

namespace gateway::telemetry {

void key_uses::note(const model::used_key& key, core::wall_time now)
{
    const auto [place, is_new] = latest_.try_emplace(key, now);
    place->second = std::max(place->second, now);
    if (is_new && latest_.size() > most) {
        const auto later = [](const auto& a, const auto& b) { return a.second < b.second; };
        latest_.erase(std::ranges::min_element(latest_, later));
    }
}

void key_uses::merge(const key_uses& other)
{
    for (const auto& [key, time] : other.latest_) {
        note(key, time);
    }
}

}  // namespace gateway::telemetry
