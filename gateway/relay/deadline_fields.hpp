// How long a caller waits for its answer, as it says in a header field such as X-Envoy-Expected-Rq-Timeout-Ms, and what the agent
// is told of that. Pure.
#pragma once

#include "core/clock.hpp"
#include "net/http1/fields.hpp"

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

}  // namespace gateway::relay
