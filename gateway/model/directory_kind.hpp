// The documents in which callers find agents that they do not know, and where they are served.
#pragma once

#include <cstdint>
#include <string_view>

namespace gateway::model {

enum class directory_kind : std::uint8_t {
    agents,
    api_catalog,
    ai_catalog,
    servers,          // of MCP: a registry's list
    server_versions,  // one of them, in a list of its own
    server_version,   // one of them
    server_card,      // of one of them
};

// Whether the document is about one agent.
constexpr bool is_of_one(directory_kind kind) noexcept
{
    return kind >= directory_kind::server_versions;
}

// Below it, `<name>/versions` and `<name>/versions/<version>` are about one server.
inline constexpr std::string_view servers_path = "/v0.1/servers";

// The address of a document that is about all agents.
constexpr std::string_view path_of(directory_kind kind) noexcept
{
    switch (kind) {
        case directory_kind::api_catalog:
            return "/.well-known/api-catalog";
        case directory_kind::ai_catalog:
            return "/.well-known/ai-catalog.json";
        case directory_kind::servers:
            return servers_path;
        case directory_kind::agents:
        case directory_kind::server_versions:
        case directory_kind::server_version:
        case directory_kind::server_card:
            break;
    }
    return "/agents";
}

}  // namespace gateway::model
