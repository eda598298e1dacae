// The calls that wait for a place among those of one agent in flight. Callers take turns, so that the one with the longest line
// delays nobody but itself. Pure; one thread.
#pragma once

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <unordered_map>

namespace gateway::balancing {

class fair_queue {
public:
    static constexpr core::duration interval{500};
    static constexpr core::duration patience{100};

    enum class place : std::uint8_t {
        waits,
        full,   // as many calls wait as may
        share,  // the caller has half of the queue, which is all that one may have, also while nobody else waits
    };

    // `length`: of the whole queue. A queue of one call may be one caller's.
    explicit fair_queue(std::size_t length) noexcept
        : length_{length}
    {
    }

    // Calls that wait stay, also those beyond the new length.
    void set_length(std::size_t length) noexcept { length_ = length; }

    // `ticket`: names the call from now on; not that of another one which waits. `caller`: a hash of whose it is. Times never go back.
    place push(std::uint64_t ticket, std::uint64_t caller, core::steady_time now);

    // The call that is next: of the caller whose turn it is, the oldest one. But if every call of the last whole interval had waited
    // longer than `patience`, the newest one: the old ones' callers are about to give up, and one served in time is worth more.
    // `admits`: whether a caller may have a place, which it then gets; those that may not keep their turn. Empty: all may.
    using admission = std::function<bool(std::uint64_t caller)>;
    std::optional<std::uint64_t> pop(core::steady_time now, const admission& admits = {});

    // A call whose caller has left, or whose time is over. False: it does not wait.
    bool remove(std::uint64_t ticket);

    std::size_t size() const noexcept { return callers_of_.size(); }
    bool newest_first() const noexcept { return newest_first_; }

private:
    struct waiting {
        std::uint64_t ticket = 0;
        core::steady_time since;
    };
    struct line {
        std::deque<waiting> calls;  // the oldest first
        std::list<std::uint64_t>::iterator turn;
    };

    void leave(std::uint64_t caller, std::deque<waiting>::iterator call);
    void record_wait(core::duration wait, core::steady_time now) noexcept;

    std::size_t length_;
    std::unordered_map<std::uint64_t, line> lines_;                // by caller
    std::unordered_map<std::uint64_t, std::uint64_t> callers_of_;  // by ticket
    std::list<std::uint64_t> turns_;                               // callers; the first is next
    std::optional<core::duration> shortest_;                       // wait in the present interval
    core::steady_time interval_end_;
    bool newest_first_ = false;
};

}  // namespace gateway::balancing
