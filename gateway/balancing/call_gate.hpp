// How many calls of one agent are in flight, exactly, whatever the number of threads. Below the limit a call costs two atomic
// operations, and two more if a principal makes it, which has at most half of the places. Beyond that calls wait in a fair queue,
// which whatever thread has something to do with it carries on at that moment: no thread ever waits for another one. Any thread.
#pragma once

#include "core/call_limits.hpp"
#include "core/clock.hpp"
#include "core/place_shares.hpp"
#include "gateway/balancing/fair_queue.hpp"
#include "gateway/balancing/sliding_counts.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace gateway::balancing {

// How many calls of an agent may be sent again: a share of its calls of the last ten seconds, and always a few in each second, so
// that retries never multiply the load of an agent that fails. One for all workers; any thread, without a lock.
class retry_budget {
public:
    static constexpr std::uint64_t always = 3;  // in each second

    explicit retry_budget(core::steady_time now) noexcept;

    void add_call(core::steady_time now) noexcept { recent_.add(now, {1, 0}); }

    // True: the call may be sent again, and that is counted. `share`: 0 to 1 of the calls. Threads that ask at once may be refused for
    // each other, and are never admitted beyond the budget.
    bool take(double share, core::steady_time now) noexcept;

private:
    sliding_counts recent_;  // calls, and retries
};

// The retry budget of an agent, which is not made before the first call that might be sent again: until then a call costs the look
// at one pointer. One for all workers; any thread, without a lock.
class retry_ledger {
public:
    retry_ledger() = default;
    ~retry_ledger() { delete budget_.load(std::memory_order_acquire); }
    retry_ledger(const retry_ledger&) = delete;
    retry_ledger& operator=(const retry_ledger&) = delete;

    void add_call(core::steady_time now) noexcept
    {
        if (auto* budget = budget_.load(std::memory_order_acquire)) {
            budget->add_call(now);
        }
    }

    // Works like retry_budget::take(); calls that ended before the first one that asks do not count.
    bool take(double share, core::steady_time now)
    {
        auto* budget = budget_.load(std::memory_order_acquire);
        if (budget == nullptr) {
            auto made = std::make_unique<retry_budget>(now);
            made->add_call(now);
            if (budget_.compare_exchange_strong(budget, made.get(), std::memory_order_acq_rel)) {
                budget = made.release();
            }
        }
        return budget->take(share, now);
    }

private:
    std::atomic<retry_budget*> budget_{nullptr};  // owned
};

// A call that asks for a place while there may be none. Decided once.
class call_waiter {
public:
    enum class state : std::uint8_t {
        undecided,
        admitted,  // it has a place, which it gives back with call_gate::leave()
        full,      // as many calls wait as may
        share,     // its caller has half of the queue
        left,      // by itself
    };

    virtual ~call_waiter() = default;

    state now() const noexcept { return state_.load(std::memory_order_acquire); }

    // Share of the place that it was admitted to: taken once, given back before the place.
    core::place_share take_share() noexcept { return std::move(share_); }

private:
    friend class call_gate;

    // Any thread, after the decision of the gate.
    virtual void decided() noexcept = 0;

    bool decide(state how) noexcept
    {
        auto expected = state::undecided;
        return state_.compare_exchange_strong(expected, how, std::memory_order_acq_rel);
    }

    std::atomic<state> state_{state::undecided};
    core::place_share share_;  // written before the decision
};

class call_gate {
public:
    using clock = core::steady_time (*)();

    // `now`: the time, for the order of the queue; it never goes back.
    call_gate(const core::call_limits& limits, clock now) noexcept;
    ~call_gate();
    call_gate(const call_gate&) = delete;
    call_gate& operator=(const call_gate&) = delete;

    // Calls beyond a limit that is lower now stay; a limit that is higher now admits those that wait, at once.
    void set_limits(const core::call_limits& limits);

    // Takes a place. False: there is none, or others wait: join().
    bool try_enter() noexcept;

    // Enters for a principal, with its share, which is given back before the place.
    std::optional<core::place_share> try_enter(core::caller_mark whose) noexcept;

    // Asks for a place. The decision comes through the waiter, perhaps within this call. A principal that has its share waits, while
    // others pass.
    void join(std::shared_ptr<call_waiter> waiter, core::caller_mark caller);

    // The waiter wants no place any more. False: it has been decided before; an admitted one has to leave().
    bool give_up(const std::shared_ptr<call_waiter>& waiter);

    // Gives a place back, which the next in the queue gets at once.
    void leave() noexcept;

    // Places of streams, which have no queue: the share comes first; nothing if the principal has all that it may.
    std::optional<core::place_share> stream_share(core::caller_mark whose) noexcept;
    bool begin_stream() noexcept;
    void end_stream() noexcept { streams_.fetch_sub(1, std::memory_order_relaxed); }

    // Which calls may be sent again.
    retry_ledger& retries() noexcept { return retries_; }

    std::size_t in_flight() const noexcept { return state_.load(std::memory_order_relaxed) & in_flight_bits; }
    std::size_t waiting() const noexcept { return state_.load(std::memory_order_relaxed) / one_waiting; }
    std::size_t streams() const noexcept { return streams_.load(std::memory_order_relaxed); }

private:
    static constexpr std::uint64_t one_waiting = std::uint64_t{1} << 32;
    static constexpr std::uint64_t in_flight_bits = one_waiting - 1;

    // Work on the queue, in the order in which it was asked for.
    struct errand {
        std::shared_ptr<call_waiter> waiter;
        core::caller_mark caller = 0;
        bool leaves = false;
        errand* next = nullptr;
    };

    // There once a call has had to wait.
    struct waiting_room {
        explicit waiting_room(std::size_t length) noexcept
            : queue{length}
        {
        }
        fair_queue queue;
        std::unordered_map<std::uint64_t, std::shared_ptr<call_waiter>> waiters;  // by ticket
    };

    void add(std::unique_ptr<errand> what) noexcept;
    void carry_on() noexcept;
    void do_errands() noexcept;
    void seat(const errand& asked) noexcept;
    void drop(const call_waiter& waiter) noexcept;
    void admit_next() noexcept;
    std::optional<core::place_share> call_share(core::caller_mark whose) noexcept;
    bool take_place(bool past_queue) noexcept;

    std::atomic<std::uint64_t> state_{0};  // calls in flight, and above them calls in the queue
    std::atomic<std::uint32_t> limit_;
    std::atomic<std::uint32_t> length_;  // of the queue
    std::atomic<std::uint32_t> most_streams_;
    std::atomic<std::uint32_t> streams_{0};
    std::atomic<std::uint32_t> turns_{0};  // not 0: a thread is in carry_on(), which alone touches room_
    std::atomic<errand*> errands_{nullptr};
    std::unique_ptr<waiting_room> room_;
    clock now_;
    retry_ledger retries_;
};

}  // namespace gateway::balancing
