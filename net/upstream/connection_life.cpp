#include "net/upstream/connection_life.hpp"

#include <algorithm>

namespace net {

connection_life::connection_life(const life_settings& settings, core::steady_time now, double chance) noexcept
    : settings_{settings},
      ends_{
          now + settings.max_age -
          core::duration{static_cast<core::duration::rep>(static_cast<double>(settings.max_age.count()) / 5 * chance)}
      }
{
}

bool connection_life::rest(core::steady_time now, std::optional<std::chrono::seconds> announced) noexcept
{
    if (announced) {
        announced_ = true;
        settings_.keep = std::min(settings_.keep, core::duration{*announced - std::chrono::seconds{1}});
    }
    rested_ = now;
    idle_until_ = now + settings_.keep;
    return ++requests_ < settings_.requests && usable(now);
}

}  // namespace net
