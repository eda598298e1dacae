#include "gateway/relay/call_wait.hpp"

#include "core/ascii.hpp"
#include "net/grpc/timeout.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace gateway::relay {
namespace {

using core::errc;

// A caller that closes its sending half may still read the answer (RFC 9112 section 9.6), or it may have left; nothing
// tells the two apart. It gets this long for an answer that is about to come, and for each further piece of it.
constexpr core::duration half_close_grace{250};

}  // namespace

core::error interrupted(woken how, std::string_view phase)
{
    switch (how) {
        case woken::late:
            return core::upstream_error(errc::upstream_timeout, std::string(phase));
        case woken::ended:
            return core::gateway_error(errc::draining, std::string(phase));
        case woken::caller_gone:
        case woken::by_event:
            break;
    }
    return core::caller_error(errc::caller_gone, std::string(phase));
}

exchange_wait::exchange_wait(net::caller_exchange& caller, bool streaming) noexcept
    : caller_{caller},
      streaming_{streaming}
{
}

// Why the wait is over already; nothing: it has begun, and ends at `wake_at` at the latest.
std::optional<woken> exchange_wait::begin(core::steady_time time, core::steady_time& wake_at)
{
    if (ended() || caller_.aborted()) {
        return woken::ended;
    }
    caller_.watch_caller();
    if (caller_.caller_left()) {
        const auto now = caller_.owner().now();
        if (!caller_left_at_) {
            caller_left_at_ = now;
        }
        if (streaming_ || caller_.was_reset() || now >= *caller_left_at_ + half_close_grace) {
            return woken::caller_gone;
        }
        wake_at = std::min(time, *caller_left_at_ + half_close_grace);
    }
    caller_.clock().start_until(wake_at);
    return std::nullopt;
}

// `due`: it was to last until then.
woken exchange_wait::ended_by(bool due) const
{
    if (ended() || caller_.aborted()) {
        return woken::ended;
    }
    return due && caller_.clock().expired() ? woken::late : woken::by_event;
}

void exchange_wait::end()
{
    ended_ = true;
    caller_.hurry();
    caller_.clock().wake().set();
}

void exchange_wait::end_in_order(bool at_once)
{
    ends_in_order_ = true;
    if (at_once) {
        end();
    } else {
        caller_.clock().wake().set();
    }
}

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
    auto due = core::steady_time::max();
    if (const auto asked = requested_deadline(fields, names)) {
        due = began + *asked;
    }
    // A caller by gRPC says it in a field of its own.
    const auto* const timeout = net::http1::find(fields, std::string_view{"grpc-timeout"});
    if (const auto asked = timeout == nullptr ? std::nullopt : net::grpc::parse_timeout(*timeout)) {
        due = std::min<core::steady_time>(due, began + *asked);
    }
    return due;
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
