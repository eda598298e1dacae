// Until when a caller gets the head of an answer, with all that comes before it: queue, connection, every attempt. Pure.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/relay/exchange_wait.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace gateway::relay {

struct call_deadline {
    core::steady_time due = core::steady_time::max();
    bool asked = false;  // by the caller, who waits for less time than the agent has

    bool over(core::steady_time now) const noexcept { return now >= due; }

    // Whether the caller's own deadline is over: the agent is not to blame.
    bool asked_and_over(core::steady_time now) const noexcept { return asked && over(now); }

    // The agent gets back the time that something else has taken; a caller that has set its own deadline waits no longer.
    void put_off(core::steady_time::duration by) noexcept
    {
        if (!asked && due != core::steady_time::max()) {
            due += by;
        }
    }

    // The time left that an agent is told.
    static core::duration left(core::steady_time until, core::steady_time now) noexcept
    {
        return std::chrono::ceil<core::duration>(until - now);
    }

    // Calls interrupted(), with the detail `deadline` if that is why.
    core::error interrupted(woken how, std::string_view phase, core::steady_time now) const
    {
        return relay::interrupted(how, how == woken::late && asked_and_over(now) ? "deadline" : phase);
    }
};

}  // namespace gateway::relay
