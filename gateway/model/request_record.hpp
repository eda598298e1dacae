// Record of one request, whatever happened to it: one access line and one set of counters. Filled by the
// handler, handed over once when the answer is out or cannot be finished.
#pragma once

#include "a2a/method.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/trace_context.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/version.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::model {

// Why a caller's session with an MCP server is over; also a metric label.
//
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

// The bounded set of what a request can be for; also a metric label.
enum class route : std::uint8_t {
    card,
    call,
    mcp,
    bundle,
    relay,
    push,
    management,
    registration,
    key_set,
    resource_metadata,
    directory,
    index,
    none,
};

std::string_view name(route r) noexcept;

// How a stream of events ended; also a metric label.
enum class stream_end : std::uint8_t { complete, caller, upstream, idle, drain, contained };

std::string_view name(stream_end e) noexcept;

// End of a stream that this error has cut.
stream_end end_of_stream(const core::error& why) noexcept;

// Use of the card cache by a request; also a metric label.
enum class card_use : std::uint8_t { hit, stale, miss, negative };

std::string_view name(card_use u) noexcept;

// Outcome of the authentication of a request; also a metric label.
enum class access_outcome : std::uint8_t { accepted, anonymous, refused, ambiguous, limited, unavailable };

std::string_view name(access_outcome o) noexcept;

// Rate limit that a request exceeded (docs/configuration.md, `rate_limits`); also a metric label.
enum class rate_limit : std::uint8_t { principal, agent, address };

std::string_view name(rate_limit l) noexcept;

// Why access denied a request what it asked for; also a metric label.
enum class denial : std::uint8_t {
    unauthenticated,  // it has no credential, and needs one
    refused,          // its credential was not accepted
    ambiguous,        // it has two credentials, or one at a place where none is read
    limited,          // too many credentials of its address failed
    unavailable,      // its credential could not be checked
    hidden,           // its principal may not know of the agent
    forbidden,        // its principal may not call the agent so, or lacks a scope
    task,             // it names a task of another principal
    contained,        // an operator contains the agent, or its principal
};

std::string_view name(denial d) noexcept;

// Why a call was sent again; also a metric label.
enum class retry_reason : std::uint8_t {
    unconnected,     // there was no connection to the endpoint
    unacknowledged,  // a used connection had ended before it took a byte of the call
    unanswered,      // no byte of an answer came to a call that may be repeated
};
inline constexpr std::size_t retry_reasons = 3;

std::string_view name(retry_reason r) noexcept;

// The two protocols between which a call was translated, the caller's first; also a metric label.
enum class bridge_direction : std::uint8_t { a2a_mcp, mcp_a2a };

constexpr std::string_view name(bridge_direction d) noexcept
{
    return d == bridge_direction::a2a_mcp ? "a2a_mcp" : "mcp_a2a";
}

// Outcome of a request of a session that lives in another replica; also a metric label.
enum class forwarding : std::uint8_t {
    answered,     // by that replica, or its caller left before
    failed,       // it was sent, and no whole answer came
    unreachable,  // there was no connection: nothing was sent
    gone,         // no such replica lives
    no_url,       // it has no replica.url that could be used
    certificate,  // its caller is known by a certificate, which another replica does not see
    again,        // another replica had forwarded it already
};

std::string_view name(forwarding f) noexcept;

// How often a call was sent.
struct attempt_record {
    unsigned attempts = 0;
    std::array<unsigned, retry_reasons> retries{};  // by retry_reason
};

struct request_record {
    core::trace_context trace;  // that it belongs to, and where it stands in it; all zero: none
    route where = route::none;
    std::string_view http;                    // the version of HTTP: `1.0`, `1.1`, `2`; empty: none is known
    std::string_view http_method;             // of the bounded set of methods; empty when no request could be read
    std::string_view peer;                    // the address that the connection came from
    std::string_view client;                  // of the caller behind trusted proxies; empty: the peer is no such proxy
    bool by_console = false;                  // admin sent it on, for the console or `cardea call`
    std::string_view principal;               // whose credential it came with; empty: nobody's
    std::string_view provider;                // that accepted it
    std::string_view agent;                   // an id of the snapshot, never what the caller wrote; empty: none
    std::optional<::a2a::method> rpc_method;  // of a call that was read
    std::optional<::mcp::client_method> mcp_method;  // of a message to an MCP server
    std::optional<::mcp::era> era;                   // that the caller spoke in it
    bool translated = false;    // caller and server speak different eras of MCP, or caller and agent dialects of A2A
    std::uint64_t lost = 0;     // members of A2A that the translation dropped
    std::uint64_t rounded = 0;  // numbers in answers by gRPC that no double equals
    std::optional<core::grpc_code> grpc_status;  // that a caller by gRPC got; nullopt: it is none, or was cut off
    std::optional<forwarding> forwarded;         // its session lives in another replica; nullopt: not so
    std::string_view replica;                    // the name of that one; empty: it was not sent there
    std::optional<bridge_direction> bridge;      // that made the call, or that serves it; nullopt: none
    std::string_view bundle;                     // of MCP that was called; empty: none
    std::string_view tool;                       // that was called, as the caller names it; empty: none
    bool tool_listed = false;                    // by the server, as callers see its list: `tool` may be a label
    std::string_view session;                    // 8 hex digits that stand for the session in lines; empty: none
    bool session_begun = false;                  // the caller got `session`
    std::optional<session_end> session_ended;    // `session` is over for the caller
    std::string_view management_method;          // of the bounded set of management methods, or "other", or empty
    unsigned status = 0;                         // as sent; 499 when the caller left before
    std::optional<access_outcome> access;        // nullopt: callers need no credential
    std::optional<rate_limit> over;              // nullopt: within all limits
    std::optional<denial> denied;                // nullopt: access denied nothing
    std::string_view denied_agent;   // with `denied`: the agent's id, also of one that is hidden; empty: none
    std::string_view rule;           // with `denied`: the rule that did, as access/explain names it; empty: unknown
    bool tool_failed = false;        // the result of `tool` has `isError: true`
    bool tool_refused = false;       // the server answered the call of `tool` with an error of JSON-RPC
    std::optional<core::errc> code;  // what failed; nullopt: nothing
    core::side from = core::side::gateway;  // whose failure it was; only with `code`
    std::string_view detail;                // of the failure, for the log
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::chrono::nanoseconds total{};
    std::chrono::nanoseconds first_byte{};  // from the request's start to the first byte of its answer
    std::optional<std::chrono::nanoseconds> upstream_first_byte;  // until the agent's answer began
    std::optional<stream_end> stream;                             // the answer was a stream of events
    std::optional<card_use> card;
    unsigned endpoint = 0;  // of the agent, from 1, where the call was sent last; 0: nowhere
    attempt_record sent;
};

// The status of HTTP that says how the request ended: of a call by gRPC, whose answers are 200, the one that its status stands for.
unsigned counted_status(const request_record& of) noexcept;

}  // namespace gateway::model
