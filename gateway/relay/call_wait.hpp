// How long a call waits. Its deadline, which a caller may name in a header field such as X-Envoy-Expected-Rq-Timeout-Ms, and each wait of an
// exchange between a caller and an agent: for any event of either side, until a time, until the caller has left, or until the exchange is
// ended from outside. On the thread of the caller's loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/fields.hpp"
#include "net/server/caller_exchange.hpp"

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::relay {

// Why a wait is over.
enum class woken : std::uint8_t { by_event, late, caller_gone, ended };

// The failure of an exchange whose wait ended so; `phase` is its detail.
core::error interrupted(woken how, std::string_view phase);

class exchange_wait {
public:
    // `caller` outlives the wait. `streaming`: as expect_stream().
    exchange_wait(net::caller_exchange& caller, bool streaming) noexcept;

    // To be awaited at once; gives `woken`. After `by_event`, look at what has changed. Events of the agent's side must set
    // caller.clock().wake(). No routine, whose frame every wait would make.
    auto until(core::steady_time time) noexcept
    {
        struct step {
            exchange_wait& of;
            core::steady_time time;
            core::steady_time wake_at;
            std::optional<woken> over;  // before it has begun

            bool await_ready()
            {
                over = of.begin(time, wake_at);
                return over.has_value();
            }
            void await_suspend(std::coroutine_handle<> who) noexcept { of.suspend(who); }
            woken await_resume() const { return over ? *over : of.ended_by(wake_at == time); }
        };
        return step{*this, time, time, std::nullopt};
    }

    // Every wait ends with woken::ended, the current one at once; the caller has a moment to take what was written.
    void end();
    bool ended() const noexcept { return ended_ || caller_.interrupted(); }

    // The current wait ends with woken::by_event at once: a stream is over as soon as nothing of an event is under way. `at_once`: as
    // end(). What waits is resumed and may destroy the object.
    void end_in_order(bool at_once);
    bool ends_in_order() const noexcept { return ends_in_order_; }

    // A caller that closes its sending half has left: nobody else tells a stream that it is no longer read.
    void expect_stream() noexcept { streaming_ = true; }

    // The caller took a piece of the answer: if it has closed its sending half, its time for the next one begins.
    void caller_took_piece() noexcept { caller_left_at_.reset(); }

private:
    std::optional<woken> begin(core::steady_time time, core::steady_time& wake_at);
    void suspend(std::coroutine_handle<> who) noexcept { caller_.clock().wait().await_suspend(who); }
    woken ended_by(bool due) const;

    net::caller_exchange& caller_;
    std::optional<core::steady_time> caller_left_at_;
    bool streaming_;
    bool ended_ = false;
    bool ends_in_order_ = false;
};

// 1 ms to a day: of `deadlines.fields`.
inline constexpr core::duration shortest_deadline{1};
inline constexpr core::duration longest_deadline{86'400'000};

// A field's value: decimal digits alone. Nothing: it is not one from the shortest to the longest.
std::optional<core::duration> parse_deadline(std::string_view value) noexcept;

// The shortest of what the fields with these names say; their case does not count. A value that is none is as if the field were not
// there: it says nothing that could be kept to.
std::optional<core::duration>
requested_deadline(const net::http1::field_list& fields, std::span<const std::string> names) noexcept;

// Until when a caller waits whose request began then; never: it does not say.
core::steady_time caller_deadline(
    const net::http1::field_list& fields,
    std::span<const std::string> names,
    core::steady_time began
) noexcept;

// A caller's own deadline may only shorten what the agent has.
core::duration shortened(core::duration timeout, std::optional<core::duration> requested) noexcept;

// Appends the line that tells the agent what is left: whole milliseconds, at least one.
void write_deadline(std::string& text, std::string_view name, core::duration left);

// The deadline of a call, with all that comes before the answer: queue, connection, every attempt.
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
