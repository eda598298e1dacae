// Which fields of a message go on to the other side of the gateway (RFC 9110 section 7.6), in both directions. Pure.
#pragma once

#include "gateway/relay/forwarded.hpp"
#include "net/http1/head.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::relay {

// How much of the body of a message is ours: the fields that speak of its bytes go with it; of a translated one also those
// that name its type and its version of A2A.
enum class body_care : std::uint8_t { passes, edited, translated };

// The body of a request as it goes out.
struct outgoing_body {
    net::http1::framing how = net::http1::framing::none;
    std::uint64_t size = 0;                // with framing::length
    body_care answer = body_care::passes;  // else the answer is asked for whole, now, and in no coding
    bool json = false;  // another name of its type (responses::is_alias_of_json()) becomes application/json
};

// Appends to `text`, which holds the agent's own part of a request head (agent_entry::fixed_fields) or nothing: the caller's
// fields that go on, the way it came (net::write_via(), write_forwarding_fields()), the body's framing, and the empty line.
// These stay behind: what ends at this hop; of a request to an MCP server, everything but the fields of MCP, of traces and
// those that its record lets pass; what the gateway sets itself; the caller's credentials, unless the agent's record
// passes them; what a caller says of its deadline in a way that is not understood; names with '_', which
// turn into one of ours wherever a CGI-like environment reads them.
void write_request_fields(
    std::string& text,
    const net::http1::request_head& head,
    const outgoing_body& body,
    const forwarding_hop& hop
);

// In requests that another replica has forwarded, which goes no further. Any caller may send it: it gives no right.
inline constexpr std::string_view forwarded_marker = "Cardea-Forwarded";

// Works like write_request_fields(), for another replica, which judges the caller itself: all fields go on but those that end at this hop
// or speak of the way that the request came, and a marker. Where it came from is written as ever, but for its host, which `Host` says.
void write_forwarded_fields(
    std::string& text,
    const net::http1::request_head& head,
    const outgoing_body& body,
    const forwarding_hop& hop
);

// Whether `forward_headers` or `caller_credentials` of an MCP server lets the caller's field pass: not if the gateway sets it itself, or a provider of
// `credentials` (null: none) reads it.
bool is_forwarded(
    std::string_view name,
    const model::agent_entry& server,
    const access::credential_reader* credentials
) noexcept;

// Whether the request is about the gateway itself: OPTIONS of `*`, or one whose Max-Forwards is used up (RFC 9110 sections
// 7.6.2, 9.3.7). What goes on has one less.
bool ends_here(const net::http1::request_head& head) noexcept;

// Who answers: MCP's session id is the gateway's own with an MCP server, and everything with another replica.
enum class answer_of : std::uint8_t { agent, mcp_server, replica };

// Replaces `text` by the status line of an agent's answer and the fields that go on; without framing and empty line. What would act
// on the origin that all agents share (net::http1::field_name::of_origin), cookies and `Server` stay here; of another replica's only what
// the gateway itself says of the origin. Of
// one whose body is edited, what names, dates or sums up the agent's bytes stays behind, and nobody may keep it. What the agent
// says of extensions is called `extensions_as`; empty: as it came.
void write_answer_fields(
    std::string& text,
    const net::http1::response_head& head,
    body_care body = body_care::passes,
    answer_of from = answer_of::agent,
    std::string_view extensions_as = {}
);

// Fields that a caller needs of an answer that it does not get: when to come again, what is allowed, and what credential is asked for.
std::string told_fields(const net::http1::response_head& head);

}  // namespace gateway::relay
