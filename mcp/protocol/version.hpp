// The versions of MCP that the gateway speaks to servers, and their two eras (MCP 2026-07-28, basic/versioning).
// Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mcp {

// How a session begins: with `initialize`, or not at all, each request naming its version.
enum class era : std::uint8_t { legacy, modern };

constexpr std::string_view name(era e) noexcept
{
    return e == era::modern ? "modern" : "legacy";
}

// Newest first.
inline constexpr std::array<std::string_view, 4> legacy_versions{
    "2025-11-25",
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
};
inline constexpr std::array<std::string_view, 1> modern_versions{"2026-07-28"};

constexpr std::span<const std::string_view> versions(era e) noexcept
{
    return e == era::modern ? std::span<const std::string_view>{modern_versions}
                            : std::span<const std::string_view>{legacy_versions};
}

// The version that a client asks for first.
constexpr std::string_view latest(era e) noexcept
{
    return versions(e).front();
}

// Nothing: a version that is not spoken.
constexpr std::optional<era> era_of(std::string_view version) noexcept
{
    for (const auto each : {era::legacy, era::modern}) {
        for (const auto known : versions(each)) {
            if (version == known) {
                return each;
            }
        }
    }
    return std::nullopt;
}

// Whether several messages may come as one JSON array.
constexpr bool has_batches(std::string_view version) noexcept
{
    return version == "2025-03-26";
}

}  // namespace mcp
