#include "gateway/balancing/overload.hpp"

namespace gateway::balancing {

overload_level
overload_meter::sample(core::duration lag, std::optional<unsigned> memory, core::steady_time now) noexcept
{
    overload_level level = 0;
    for (std::size_t i = 0; i < most_overload; ++i) {
        const bool full = memory && *memory >= settings_.memory[i];
        if (lag >= settings_.lag[i] || full) {
            reached_[i] = now;
        }
        const auto& last = reached_[i];
        if (last && now - *last < hold) {
            level = static_cast<overload_level>(i + 1);
        }
    }
    return level;
}

}  // namespace gateway::balancing
