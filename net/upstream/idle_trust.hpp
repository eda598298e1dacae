// For how long an agent that does not announce it keeps a connection without a request, as its connections have shown: a call that is
// sent while the agent closes its connection is lost, and most must not be sent again. Pure.
#pragma once

#include "core/clock.hpp"

#include <algorithm>

namespace net {

class idle_trust {
public:
    // Before anything is known. uvicorn, which announces nothing, closes after 5 s.
    static constexpr core::duration at_first{4'000};

    // Before the agent's own time.
    static constexpr core::duration margin{1'000};

    // Who ends a connection that has just been used does so for another reason: it restarts.
    static constexpr core::duration shortest_known{1'500};

    // Whether a connection that has been idle for so long may carry a call.
    bool holds(core::duration idle) const noexcept { return idle < trusted_; }

    // A connection has been idle for so long and is there; the agent has ended one that had been.
    void note_kept(core::duration idle) noexcept { trusted_ = std::max(trusted_, idle - margin); }
    void note_ended(core::duration idle) noexcept
    {
        if (idle >= shortest_known) {
            trusted_ = std::min(trusted_, idle - margin);
        }
    }

private:
    core::duration trusted_ = at_first;
};

}  // namespace net
