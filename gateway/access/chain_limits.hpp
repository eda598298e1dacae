// Counts calls in chains, for all workers together: a chain is a trace that a caller began, or a context of A2A, over all principals
// and agents (docs/operations/chains.md). A table of atomics with fixed size; a chain is a keyed hash in it, and no id is kept. A chain with
// calls in flight is never evicted; a further one passes and is counted as untracked. Any thread, without a lock: of two threads that
// begin one chain while another one in its row ends, each may count a part of it.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/keyed_hash.hpp"
#include "core/trace_context.hpp"
#include "gateway/model/plane.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

namespace gateway::access {

class chain_limits final : public model::plane {
public:
    static constexpr std::size_t most = 16'384;                 // chains with calls in flight
    static constexpr std::uint64_t most_in_flight = 1'048'575;  // of one chain; beyond, calls are untracked

    // Allocates the table, whose pages are untouched before chains come. Throws std::bad_alloc.
    explicit chain_limits(
        const config::chain_settings& settings,
        core::steady_time now = std::chrono::steady_clock::now()
    );

    // A chain; 0: none.
    using name = std::uint64_t;
    name name_of(const core::trace_id& trace) const noexcept;
    name name_of_context(std::string_view id) const noexcept;

    // Whether anything is limited.
    bool active() const noexcept
    {
        return in_flight_.load(std::memory_order_relaxed) > 0 || calls_.load(std::memory_order_relaxed) > 0;
    }

    enum class limit : std::uint8_t { in_flight, calls };

    // The place of a chain in the table; `untracked`: it has none.
    using slot = std::uint32_t;
    static constexpr slot untracked = ~slot{0};

    // Counts one more call of the chain, which leave() ends, or names the limit that it is over.
    struct entered {
        slot at = untracked;
        std::optional<limit> over{};
    };
    entered enter(name of, core::steady_time now) noexcept;
    void leave(slot at) noexcept;

    // True at most once a minute: a refused call is to be logged.
    bool reports(core::steady_time now) noexcept;

    std::uint64_t untracked_calls() const noexcept { return untracked_.load(std::memory_order_relaxed); }

    void apply(const config::settings& now, const model::changed_settings& changed) override;
    void collect(telemetry::metrics& into) const override;

private:
    static constexpr std::size_t row = 16;  // a chain is in one row
    static constexpr std::size_t rows =
        6 * most / row;  // so many that no row is full before `most` are in flight: 1 in 40,000

    // Accessed as atomics. `chains`: the upper bits of the name, then the calls in flight. `windows`: a part of the name, when the
    // window began, then the calls that began in it.
    struct chain_row {
        std::array<std::uint64_t, row> chains;
        std::array<std::uint64_t, row> windows;
    };
    struct freed {
        void operator()(chain_row* all) const noexcept { std::free(all); }
    };

    // A place, and what it had when it was found; `row`: there is none.
    struct found {
        std::size_t at = row;
        std::uint64_t word = 0;
    };

    void set(const config::chain_settings& settings) noexcept;
    static found find(chain_row& in, name of, std::uint64_t tick) noexcept;
    bool take(chain_row& in, const found& place, name of) noexcept;
    bool count_call(chain_row& in, std::size_t at, name of, std::uint64_t tick) noexcept;
    std::uint64_t tick_of(core::steady_time now) const noexcept;
    entered pass_untracked() noexcept;

    core::keyed_hash hash_;
    core::steady_time made_;
    std::unique_ptr<chain_row[], freed> rows_;
    std::atomic<std::uint64_t> in_flight_{0};
    std::atomic<std::uint64_t> calls_{0};
    std::atomic<std::uint64_t> window_{0};  // in ticks
    std::atomic<std::size_t> chains_{0};    // with calls in flight
    std::atomic<std::uint64_t> untracked_{0};
    std::atomic<std::int64_t> next_report_{0};  // nanoseconds of the steady clock
};

// The chains in which one request counts until it ends: its trace and its context. One thread.
class chain_places {
public:
    static constexpr std::size_t most = 2;

    chain_places() = default;
    ~chain_places();
    chain_places(const chain_places&) = delete;
    chain_places& operator=(const chain_places&) = delete;

    // Counts the request in each chain, once; `chains` outlives this. Nothing: it may go on, also if it counts already.
    std::optional<chain_limits::limit>
    enter(chain_limits& chains, const std::array<chain_limits::name, most>& names, core::steady_time now) noexcept;

    // The refusal is to be logged.
    bool reports() const noexcept { return reports_; }

private:
    void leave() noexcept;

    chain_limits* in_ = nullptr;  // null: the request counts in no chain
    std::array<chain_limits::slot, most> at_{chain_limits::untracked, chain_limits::untracked};
    bool reports_ = false;
};

// "in_flight", "calls".
std::string_view name(chain_limits::limit of) noexcept;

}  // namespace gateway::access
