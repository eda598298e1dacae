// Whether an endpoint of an agent gets calls: all of them (closed), none (open), or one at a time, to find out (half open). One for
// all workers: its state is one atomic word, so that every thread has the same verdict at once and none waits. No clock and no
// chance of its own.
#pragma once

#include "core/call_limits.hpp"
#include "core/clock.hpp"
#include "gateway/balancing/sliding_counts.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::balancing {

using core::breaker_settings;

enum class breaker_state : std::uint8_t { closed, open, half_open };

enum class call_end : std::uint8_t {
    answered,     // by the agent, and not with 502, 503 or 504
    failed,       // it broke off, or answered with one of these
    unreachable,  // there was no connection: unresolved, refused, TLS, not in time
    unknown,      // neither: the caller left, the gateway ended it, or the agent worked until its timeout
};

enum class breaker_change : std::uint8_t { none, opened, closed };

class endpoint_group;

class breaker {
public:
    // Gives 0 to less than 1: what is taken off a cooldown, in fifths of it. Any thread.
    using random_source = double (*)();

    // Settings that breakers share; not null.
    struct shared_settings {
        explicit shared_settings(std::shared_ptr<const breaker_settings> given) noexcept
            : all{std::move(given)}
        {
        }
        std::shared_ptr<const breaker_settings> all;
    };

    // `now`: any time before all others that it is given, and not more than 30 years before them.
    breaker(const shared_settings& settings, core::steady_time now, random_source random) noexcept;
    breaker(const breaker_settings& settings, core::steady_time now, random_source random);
    ~breaker();
    breaker(const breaker&) = delete;
    breaker& operator=(const breaker&) = delete;

    // Permit of an admitted call. Each is given back to ended() exactly once.
    class permit {
        friend class breaker;
        permit(std::uint16_t epoch, bool trial) noexcept
            : epoch_{epoch},
              trial_{trial}
        {
        }

        std::uint16_t epoch_;  // of the state that admitted it
        bool trial_;           // the one call of a breaker that is half open
    };

    // Nothing: not now, but perhaps at again_at(). From the end of a cooldown on, one call at a time is admitted, and another one
    // when that takes longer than a cooldown and 30 seconds: a caller may be slow to send it.
    std::optional<permit> admit(core::steady_time now) noexcept;

    // Whether admit() would admit a call.
    bool admits(core::steady_time now) const noexcept;

    // A call that the state before the present one admitted changes nothing. `group`: of the agent's endpoints; null: it has one.
    breaker_change ended(permit of, call_end how, core::steady_time now, endpoint_group* group = nullptr) noexcept;

    // Until when it admits nothing for sure; of an endpoint that cannot be connected to: when it is tried next.
    core::steady_time again_at(core::steady_time now) const noexcept;

    // Open because the endpoint could not be connected to: only probed() or close() changes that.
    bool awaits_probe() const noexcept;

    // A bare connection that was begun at this time was made, or not. One that was made admits a call; calls alone close a breaker.
    void probed(bool connected, core::steady_time begun) noexcept;

    // Closes it for an operator. True: it was not closed.
    bool close() noexcept;

    breaker_state state() const noexcept;
    std::uint64_t openings() const noexcept { return openings_.load(std::memory_order_relaxed); }
    const breaker_settings& settings() const noexcept { return *settings_; }

private:
    enum class phase : std::uint8_t { closed, open, unreachable, half_open };
    struct word;

    std::uint64_t millis(core::steady_time now) const noexcept;
    word load() const noexcept;
    bool swap(word& expected, const word& desired) noexcept;
    core::duration cooldown_after(std::uint64_t openings) const noexcept;
    word opened_after(const word& was, call_end how, core::steady_time now) const noexcept;
    breaker_change worked(permit of, core::steady_time now) noexcept;
    breaker_change failed(permit of, call_end how, core::steady_time now, endpoint_group* group) noexcept;
    breaker_change count_failure(permit of, call_end how, core::steady_time now, bool by_ratio) noexcept;
    void released(permit of) noexcept;
    bool over_ratio(core::steady_time now) const noexcept;
    void count(core::steady_time now, counted call) noexcept;
    void forget_calls() noexcept;

    std::shared_ptr<const breaker_settings> settings_;
    core::steady_time from_;
    random_source random_;
    std::atomic<std::uint64_t> word_{0};
    std::atomic<std::uint64_t> openings_{0};
    // Owned; made with the first call, because most agents of a large gateway rest.
    std::atomic<sliding_counts*> recent_{nullptr};
};

}  // namespace gateway::balancing
