// How an MCP server is reached, and how its session is kept: part of an agent's record.
#pragma once

#include "core/clock.hpp"
#include "core/secret.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

// `unsupported`: described in a way that the gateway does not run, such as a container image.
enum class mcp_transport : std::uint8_t { stdio, streamable_http, sse, unsupported };

// Which of the two kinds of MCP it speaks: with sessions (up to 2025-11-25), without (since 2026-07-28), or to be found out.
enum class mcp_era : std::uint8_t { automatic, legacy, modern };

// When its session begins: with the gateway, or when somebody first asks for its card.
enum class mcp_start : std::uint8_t { eager, lazy };

// "stdio", "streamable-http", "sse", "unsupported".
std::string_view name(mcp_transport t) noexcept;

// "auto", "legacy", "modern".
std::string_view name(mcp_era e) noexcept;

// "eager", "lazy".
std::string_view name(mcp_start s) noexcept;

// What max_message may be.
constexpr std::uint64_t least_mcp_message = 64 * 1024;
constexpr std::uint64_t most_mcp_message = 1024 * 1024 * 1024;

struct mcp_server {
    mcp_transport transport = mcp_transport::streamable_http;
    std::string command;                 // of stdio: a path, or a name in the PATH of `environment`
    std::vector<std::string> arguments;  // of stdio; may hold credentials
    std::vector<std::pair<std::string, secret>>
        environment;        // of stdio; besides the few variables that every child gets
    std::string directory;  // of stdio; empty: where the gateway runs
    mcp_start start = mcp_start::eager;
    mcp_era era = mcp_era::automatic;
    duration initialize_timeout =
        std::chrono::seconds{60};                         // from the start to the answer to initialize: npx downloads
    duration request_timeout = std::chrono::seconds{30};  // one request of ours
    duration ping_interval = std::chrono::seconds{30};    // between pings; 0: never
    std::optional<duration> walk;  // between walks over its lists in the legacy era; 0: never; nothing: mcp.walk
    duration backoff = std::chrono::milliseconds{500};  // after the first end of a session; grows with each
    duration max_backoff = std::chrono::seconds{60};
    std::uint64_t max_message = 8 * 1024 * 1024;  // one message, either way
    bool stale_if_error = false;                  // the last card is served while there is no session

    friend bool operator==(const mcp_server&, const mcp_server&) = default;
};

}  // namespace core
