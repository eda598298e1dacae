// The documents in which callers find agents that they do not know, and where they are served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::model {

enum class directory_kind : std::uint8_t { agents, api_catalog, ai_catalog };

inline constexpr std::size_t directory_kinds = 3;

constexpr std::string_view path_of(directory_kind kind) noexcept
{
    switch (kind) {
        case directory_kind::agents:
            return "/agents";
        case directory_kind::api_catalog:
            return "/.well-known/api-catalog";
        case directory_kind::ai_catalog:
            return "/.well-known/ai-catalog.json";
    }
    return "/agents";
}

}  // namespace gateway::model
