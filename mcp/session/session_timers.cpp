#include "mcp/session/session_timers.hpp"

#include <utility>

namespace mcp {

session_timers::session_timers(net::loop& on, std::function<void(timer_name)> fired)
    : fired_{std::move(fired)}
{
    entries_.reserve(timer_names);
    for (std::size_t i = 0; i < timer_names; ++i) {
        entries_.push_back({timer{on.get_executor()}, 0, std::nullopt});
    }
}

void session_timers::arm(timer_name name, core::duration after)
{
    auto& entry = at(name);
    const auto number = ++entry.armings;
    entry.clock.expires_after(after);
    entry.clock.async_wait([this, name, number, alive = std::weak_ptr<bool>{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired() && at(name).armings == number) {
            const auto fired = fired_;  // which may destroy this
            fired(name);
        }
    });
}

void session_timers::disarm(timer_name name)
{
    auto& entry = at(name);
    entry.owed.reset();
    ++entry.armings;
    entry.clock.cancel();
}

void session_timers::disarm_all()
{
    for (std::size_t i = 0; i < timer_names; ++i) {
        disarm(static_cast<timer_name>(i));
    }
}

void session_timers::owe(timer_name name, core::duration after)
{
    disarm(name);
    at(name).owed = after;
}

void session_timers::arm_owed()
{
    for (std::size_t i = 0; i < timer_names; ++i) {
        if (const auto after = std::exchange(entries_[i].owed, std::nullopt)) {
            arm(static_cast<timer_name>(i), *after);
        }
    }
}

void session_timers::forget_owed() noexcept
{
    for (auto& each : entries_) {
        each.owed.reset();
    }
}

core::steady_time session_timers::expiry(timer_name name) const
{
    return entries_[static_cast<std::size_t>(name)].clock.expiry();
}

}  // namespace mcp
