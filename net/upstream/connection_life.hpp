// How long a connection to an agent is used, and how long an idle one may be trusted. Pure: time and chance come from the caller.
#pragma once

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace net {

struct life_settings {
    core::duration keep{60'000};      // without a request
    core::duration max_age{600'000};  // minus up to a fifth, so that connections made together do not end together
    std::uint64_t requests = 10'000;
};

class connection_life {
public:
    connection_life() = default;

    // `chance`: 0 to less than 1.
    connection_life(const life_settings& settings, core::steady_time now, double chance) noexcept
        : settings_{settings},
          ends_{
              now + settings.max_age -
              core::duration{
                  static_cast<core::duration::rep>(static_cast<double>(settings.max_age.count()) / 5 * chance)
              }
          }
    {
    }

    // An exchange has ended. `announced`: for how long the agent keeps a connection without a request, as its answer says; what an
    // earlier one said stays. The agent counts from when it sent the answer: a second is left to it. False: no request may follow.
    bool rest(core::steady_time now, std::optional<std::chrono::seconds> announced) noexcept
    {
        if (announced) {
            announced_ = true;
            settings_.keep = std::min(settings_.keep, core::duration{*announced - std::chrono::seconds{1}});
        }
        rested_ = now;
        idle_until_ = now + settings_.keep;
        return ++requests_ < settings_.requests && usable(now);
    }

    // Exchanges are under way beside each other: until rest(), only the age counts.
    void work() noexcept { idle_until_ = core::steady_time::max(); }

    // Whether a request may follow now.
    bool usable(core::steady_time now) const noexcept { return now < idle_until_ && now < ends_; }

    // The agent has said for how long it keeps the connection.
    bool announced() const noexcept { return announced_; }

    // Since rest().
    core::duration idle_for(core::steady_time now) const noexcept
    {
        return std::chrono::duration_cast<core::duration>(now - rested_);
    }

private:
    life_settings settings_;
    core::steady_time ends_{core::steady_time::max()};
    core::steady_time idle_until_{core::steady_time::max()};
    core::steady_time rested_{};
    std::uint64_t requests_ = 0;
    bool announced_ = false;
};

// Estimates how long an agent that does not announce it keeps an idle connection, from the ends of its connections: a call that is sent
// while the agent closes its connection is lost, and most must not be sent again.
class keepalive_estimate {
public:
    // Before anything is known. uvicorn, which announces nothing, closes after 5 s.
    static constexpr core::duration at_first{4'000};

    // Before the agent's own time.
    static constexpr core::duration margin{1'000};

    // An agent that ends a connection sooner does so for another reason: it restarts.
    static constexpr core::duration shortest_known{1'500};

    // Whether a connection that has been idle for so long may carry a call.
    bool holds(core::duration idle) const noexcept { return idle < trusted_; }

    // A connection has been idle for so long and is open; the agent has ended one that had been idle for so long.
    void record_kept(core::duration idle) noexcept { trusted_ = std::max(trusted_, idle - margin); }
    void record_ended(core::duration idle) noexcept
    {
        if (idle >= shortest_known) {
            trusted_ = std::min(trusted_, idle - margin);
        }
    }

private:
    core::duration trusted_ = at_first;
};

}  // namespace net
