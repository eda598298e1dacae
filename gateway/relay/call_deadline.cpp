#include "gateway/relay/call_deadline.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace gateway::relay {

std::optional<core::duration> parse_deadline(std::string_view value) noexcept
{
    if (value.empty() || !std::ranges::all_of(value, core::is_digit)) {
        return std::nullopt;
    }
    std::int64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    const core::duration time{number};
    if (read.ec != std::errc{} || time < shortest_deadline || time > longest_deadline) {
        return std::nullopt;
    }
    return time;
}

std::optional<core::duration>
requested_deadline(const net::http1::field_list& fields, std::span<const std::string> names) noexcept
{
    std::optional<core::duration> shortest;
    for (const auto& field : fields) {
        const auto named = [&](const std::string& name) { return core::equal_ignoring_case(name, field.name); };
        if (!std::ranges::any_of(names, named)) {
            continue;
        }
        const auto time = parse_deadline(field.value);
        if (time) {
            shortest = std::min(shortest.value_or(*time), *time);
        }
    }
    return shortest;
}

core::steady_time caller_deadline(
    const net::http1::field_list& fields,
    std::span<const std::string> names,
    core::steady_time began
) noexcept
{
    const auto asked = requested_deadline(fields, names);
    return asked ? began + *asked : core::steady_time::max();
}

core::duration shortened(core::duration timeout, std::optional<core::duration> requested) noexcept
{
    return std::min(timeout, requested.value_or(timeout));
}

void write_deadline(std::string& text, std::string_view name, core::duration left)
{
    text.append(name).append(": ").append(std::to_string(std::max(left, shortest_deadline).count())).append("\r\n");
}

}  // namespace gateway::relay
