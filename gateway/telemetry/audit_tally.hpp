// The audit notes of one worker until they are taken. Bounded; allocates only for denials that differ from those before.
// One thread.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/request_record.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace gateway::telemetry {

class audit_tally {
public:
    static constexpr std::size_t most = 64;         // denials that are told apart, and keys
    static constexpr std::size_t share = most / 4;  // denials of one principal, and of all anonymous callers together

    // Without `on` nothing is kept.
    explicit audit_tally(bool on) noexcept
        : on_{on}
    {
    }

    // A request that has been answered.
    void note(const model::request_record& record);

    // A key was accepted that was not known a moment before.
    void note_key(const core::principal& owner);

    // All since the last time.
    model::audit_notes take();

private:
    bool on_;
    model::audit_notes notes_;
};

// Folds denials that repeat: of the same reason and rule to the same principal at the same agent, at most one goes on in `window`, with
// how many there were. Bounded. Pure; one thread at a time.
class denial_fold {
public:
    static constexpr std::chrono::seconds window{10};
    static constexpr std::size_t most = 1024;       // that are told apart; others are dropped
    static constexpr std::size_t share = most / 4;  // of one principal, and of all anonymous callers together

    using taker = std::function<void(const model::denied_requests&)>;

    explicit denial_fold(taker take)
        : take_{std::move(take)}
    {
    }

    // The first of its kind goes on at once.
    void add(const model::denied_requests& requests, core::steady_time now);

    // Denials that were folded for a window go on.
    void sweep(core::steady_time now);

    // Denials that were folded go on: nothing comes any more.
    void end();

    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    using caller = std::pair<std::string, std::string>;  // principal and provider, both empty: anonymous
    using kind = std::tuple<model::denial, std::string, std::string, std::string, std::string>;

    struct kept {
        model::denied_requests folded;  // count 0: none since one went on
        core::steady_time until;        // no other goes on before
    };

    taker take_;
    std::map<kind, kept> kept_;
    std::map<caller, std::size_t> shares_;  // how many of them are whose
    std::uint64_t dropped_ = 0;
};

}  // namespace gateway::telemetry
