// Why a caller's session with an MCP server is over; also a metric label.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::model {

// The client's DELETE; nothing was said for too long; the session is too old; another client needed its place; the server has
// lost it; the server refused `initialize`; the one call is over that it was for; the agent has changed or is gone; the gateway
// ends.
enum class session_end : std::uint8_t { deleted, idle, aged, evicted, lost, refused, done, withdrawn, draining };

inline constexpr std::size_t session_ends = 9;

constexpr std::string_view name(session_end why) noexcept
{
    constexpr std::array<std::string_view, session_ends> names{
        "deleted",
        "idle",
        "aged",
        "evicted",
        "lost",
        "refused",
        "done",
        "withdrawn",
        "draining",
    };
    return names[static_cast<std::size_t>(why)];
}

}  // namespace gateway::model
