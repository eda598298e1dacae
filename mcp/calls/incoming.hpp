// Reads the body that a client posts to an MCP endpoint in one pass and without a document: the whole body is checked as JSON, and
// the members that decide where a message goes are found. They are places in the body, so that each can be replaced in a copy
// (text_edits.hpp). Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_method.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

enum class incoming_kind : std::uint8_t { request, notification, answer };

// Bytes of a text, by their offset: good for every copy of it.
struct text_range {
    std::size_t at = 0;
    std::size_t size = 0;

    bool empty() const noexcept { return size == 0; }
    std::string_view of(std::string_view text) const noexcept { return text.substr(at, size); }

    friend bool operator==(const text_range&, const text_range&) = default;
};

// A member that is looked for, and the object in which it stands.
enum class routed : std::uint8_t {
    // The message.
    jsonrpc,
    id,
    method,
    params,
    result,
    failure,  // `error`
    // `params`.
    name,
    uri,
    task,       // `taskId`
    augmented,  // `task`, of a request that becomes a task
    arguments,
    meta,             // `_meta`
    request_state,    // `requestState`
    input_responses,  // `inputResponses`
    request_id,       // `requestId`, of notifications/cancelled
    version,          // `protocolVersion`, of initialize
    capabilities,     // of initialize
    client_info,      // `clientInfo`, of initialize
    level,            // of logging/setLevel
    cursor,
    reference,         // `ref`, of completion/complete
    listen_to,         // `notifications`, of subscriptions/listen
    progressed_token,  // `progressToken`, of notifications/progress
    delivery,          // of events/subscribe
    // `params._meta`; the first four and the related task begin with `io.modelcontextprotocol/` there.
    meta_version,       // `protocolVersion`
    meta_capabilities,  // `clientCapabilities`
    meta_client_info,   // `clientInfo`
    meta_level,         // `logLevel`
    progress_token,     // `progressToken`
    related_task,       // `io.modelcontextprotocol/related-task`
    meta_trace,         // `traceparent`
    // `params.ref`.
    reference_type,
    reference_name,
    reference_uri,
    // `params.delivery`.
    webhook,  // `url`
};

inline constexpr std::size_t routed_members = 35;

struct incoming {
    incoming_kind kind = incoming_kind::request;
    client_method method = client_method::other;
    text_range whole;                                // this message
    std::array<text_range, routed_members> members;  // by `routed`: raw values; empty: absent

    text_range operator[](routed member) const noexcept { return members[static_cast<std::size_t>(member)]; }

    std::string_view raw(routed member, std::string_view body) const noexcept { return (*this)[member].of(body); }

    // The text of a string: a view into `body`, or into `room` if it has escapes. Nothing: absent, or no string.
    std::optional<std::string_view> text(routed member, std::string_view body, std::string& room) const;
};

// The value that `Mcp-Name` repeats: the name, URI or task of methods that have one, whether or not it is there.
std::optional<routed> target_of(client_method method) noexcept;

struct incoming_limits {
    unsigned depth = 64;  // of nested containers; at most 64
};

struct incoming_body {
    incoming message;
    text_range id;                      // for the error answer: of a request, if it has one of an allowed type
    std::optional<core::errc> problem;  // then only `id` is of use
    std::string_view why;               // a constant, for the log
};

// `problem` is parse_error: not JSON, or too deep; or invalid_request: no message, no kind of message or two; a routed member
// twice, also in another spelling, or one that differs from it in case only (not within `_meta`); params that are no object; an
// id that is neither string nor number (the error of an answer may lack one); a batch. Allocates for names with escapes.
incoming_body read_incoming(std::string_view body, incoming_limits limits = {});

}  // namespace mcp
