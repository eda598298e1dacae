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

// The upstream session that a caller's session uses: one of its own, or the one that the gateway itself keeps.
enum class mcp_sessions : std::uint8_t { own, shared };

// How a call without a session is served: with a session of its own that ends with it, the gateway's, or a refusal. `fall_back`: as `fresh`, but
// clients of both eras are led to begin a session if the server speaks only the legacy one.
enum class mcp_sessionless : std::uint8_t { fall_back, fresh, shared, refuse };

// The answer to a caller after the server has lost its session: nothing, because the gateway begins another one, or 404.
enum class mcp_loss : std::uint8_t { recover, tell };

// "own", "shared".
std::string_view name(mcp_sessions s) noexcept;

// "fall_back", "fresh", "shared", "refuse".
std::string_view name(mcp_sessionless s) noexcept;

// "recover", "tell".
std::string_view name(mcp_loss l) noexcept;

// "stdio", "streamable-http", "sse", "unsupported".
std::string_view name(mcp_transport t) noexcept;

// "auto", "legacy", "modern".
std::string_view name(mcp_era e) noexcept;

// "eager", "lazy".
std::string_view name(mcp_start s) noexcept;

// The range of max_message.
constexpr std::uint64_t least_mcp_message = 64 * 1024;
constexpr std::uint64_t most_mcp_message = 1024 * 1024 * 1024;

// Which tools, prompts or resources of a server callers get, and how they are called. Names are the server's, and in patterns
// `*` is any text.
struct mcp_filter {
    std::vector<std::string> allow;                                 // patterns; empty: all
    std::vector<std::string> deny;                                  // patterns; counts before `allow`
    std::vector<std::pair<std::string, std::string>> names;         // the server's name, the exposed one
    std::vector<std::pair<std::string, std::string>> descriptions;  // the exposed name, what callers read

    friend bool operator==(const mcp_filter&, const mcp_filter&) = default;
};

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
    mcp_sessions sessions = mcp_sessions::own;
    mcp_sessionless sessionless = mcp_sessionless::fall_back;
    mcp_loss on_lost = mcp_loss::recover;
    bool overlap = false;    // of stdio: at a hand-over its programs start before those of the old process have ended
    std::uint64_t warm = 1;  // of stdio: programs that are started ahead
    std::optional<std::uint64_t> max_sessions;  // of callers, at once; nothing: 64 programs, or 10,000 sessions of HTTP
    duration call_timeout = std::chrono::minutes{10};  // of silence during a call
    duration longest_call = std::chrono::hours{1};     // in all; not configurable
    duration silent_call = std::chrono::seconds{10};   // until a tool's caller gets events; not configurable
    mcp_filter tools;
    mcp_filter prompts;
    mcp_filter resources;                      // by URI
    std::vector<std::string> forward_headers;  // of callers, that go on to the server
    bool bind = true;  // the ids of tasks and `requestState` that it hands out are good for one principal only

    friend bool operator==(const mcp_server&, const mcp_server&) = default;
};

}  // namespace core
