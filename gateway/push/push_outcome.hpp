// Meaning of the answer to a delivery, and when it is tried again. Pure; any thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/client/fetch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::push {

// How a delivery ends; also a metric label. All but the first are failures.
enum class push_end : std::uint8_t {
    delivered,
    rejected,    // a status that another attempt would not change
    redirected,  // 3xx: where to is not for the receiver to say
    forbidden,   // none of the receiver's addresses is allowed
    unreadable,  // it cannot be opened, read or said in the caller's generation
    exhausted,   // limits.push_attempts
    expired,     // timeouts.push_age
};
inline constexpr std::size_t push_ends = static_cast<std::size_t>(push_end::expired) + 1;

std::string_view name(push_end e) noexcept;

struct push_verdict {
    std::optional<push_end> end;  // nullopt: it is tried again
    std::string why;              // for the log: a status, or the code of an error
    core::duration patience{};    // that the receiver asks for; 0: it does not
};

// 2xx has delivered. 408, 425, 429, 5xx, failures of the connection and those of the gateway itself may be tried again, all else not.
push_verdict judge(const core::result<net::fetch_response>& answer);

inline constexpr std::chrono::seconds first_pause{1};
inline constexpr std::chrono::minutes longest_pause{5};

// After so many failed attempts: twice as long after each, less up to half of it by `random` from [0, 1); not less than
// the receiver asks for, up to longest_pause.
core::duration pause_after(std::uint64_t attempts, core::duration patience, double random) noexcept;

}  // namespace gateway::push
