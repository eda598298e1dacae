// Until when a caller gets the head of an answer, and how long it says that it waits, in a header field such as
// X-Envoy-Expected-Rq-Timeout-Ms. Pure.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/relay/exchange_wait.hpp"
#include "net/http1/fields.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::relay {

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
