#include "gateway/relay/forwarding.hpp"

#include "a2a/extension_header.hpp"
#include "core/ascii.hpp"
#include "gateway/access/credential_reader.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/version.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/responses/content_type.hpp"
#include "net/grpc/timeout.hpp"
#include "net/http1/head_writer.hpp"
#include "net/upstream/via.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>

namespace gateway::relay {
namespace {

using net::http1::field_name;

constexpr std::size_t usual_head = 512;

bool stays_with_request(field_name id)
{
    switch (id) {
        case field_name::host:
        case field_name::expect:
        case field_name::forwarded:
        case field_name::x_forwarded:
        case field_name::cardea:
        case field_name::via:
            return true;
        default:
            return net::http1::hop_by_hop(id);
    }
}

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) noexcept
{
    return std::ranges::any_of(names, [&](std::string_view each) { return core::equal_ignoring_case(each, name); });
}

bool names(std::span<const std::string> some, std::string_view name) noexcept
{
    return std::ranges::any_of(some, [&](const std::string& each) { return core::equal_ignoring_case(each, name); });
}

// Fields that the gateway itself tells the agent are never the caller's; a credential of the caller passes only where the agent's
// record says so.
bool stays_as_credential(const net::http1::field& field, const forwarding_hop& hop) noexcept
{
    if (hop.agent != nullptr && names(hop.agent->own_fields, field.name)) {
        return true;
    }
    const bool credential = field.id == field_name::authorization || field.id == field_name::cookie ||
                            field.id == field_name::api_key ||
                            (hop.credentials != nullptr && hop.credentials->is_key_header(field.name));
    if (!credential || hop.agent == nullptr) {
        return credential;
    }
    if (hop.agent->record.mcp) {
        return !is_forwarded(field.name, *hop.agent, hop.credentials);
    }
    const auto& passed = hop.agent->record.of_callers;
    return !passed.all && !names(passed.names, field.name);
}

// With these some servers read another method or path than the gateway has looked at. A proxy that is trusted may have set them.
bool stays_as_override(std::string_view name, const forwarding_hop& hop) noexcept
{
    constexpr std::array<std::string_view, 5> overrides{
        "X-HTTP-Method",
        "X-HTTP-Method-Override",
        "X-Method-Override",
        "X-Original-URL",
        "X-Rewrite-URL",
    };
    constexpr std::size_t shortest = 13;
    const bool may_be_one = !hop.trusted && name.size() >= shortest && core::lower(name.front()) == 'x';
    return may_be_one && is_one_of(overrides, name);
}

// Whether the field belongs to a trace that the gateway joins.
bool stays_as_trace(field_name id, const forwarding_hop& hop) noexcept
{
    return hop.trace && (id == field_name::traceparent || (id == field_name::tracestate && !hop.trace->keeps_state));
}

// Whether named_by_connection() may be true of a field that hop_by_hop() is not: mostly `Connection` is there for `keep-alive` alone.
bool nominates_fields(const net::http1::field_list& fields) noexcept
{
    return std::ranges::any_of(fields, [](const net::http1::field& line) {
        return line.id == field_name::connection && !core::equal_ignoring_case(line.value, "keep-alive");
    });
}

// A field as it was received, which is mostly in one piece.
void add_line(std::string& text, const net::http1::field& line)
{
    const auto* const behind = line.name.data() + line.name.size();
    if (behind + 2 == line.value.data() && behind[0] == ':' && behind[1] == ' ') {
        text.append(line.name.data(), line.name.size() + 2 + line.value.size()).append("\r\n");
    } else {
        net::http1::head_writer{text}.field(line.name, line.value);
    }
}

// All agents share the gateway's origin: a cookie of one would be sent to all, a service worker of one would answer for all.
bool stays_with_answer(field_name id, answer_of from)
{
    if (from == answer_of::replica && id != field_name::of_origin) {
        return net::http1::hop_by_hop(id);
    }
    switch (id) {
        case field_name::cardea:
        case field_name::of_origin:
        case field_name::server:
        case field_name::set_cookie:
            return true;
        default:
            return net::http1::hop_by_hop(id);
    }
}

// Fields without which an answer comes whole, whatever the caller has of it, and in no coding.
constexpr std::array<std::string_view, 11> fields_on_form{
    "Accept-Encoding",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Range",
    "TE",
    "Want-Content-Digest",
    "Want-Digest",
    "Want-Repr-Digest",
};

// Fields that hold of the bytes of an agent's answer, or of how long they may be kept (RFC 9110, 9111, 9421, 9530).
constexpr std::array<std::string_view, 16> fields_of_bytes{
    "Accept-Ranges",
    "Age",
    "Cache-Control",
    "Content-Digest",
    "Content-Encoding",
    "Content-Location",
    "Content-MD5",
    "Content-Range",
    "Digest",
    "ETag",
    "Expires",
    "Last-Modified",
    "Pragma",
    "Repr-Digest",
    "Signature",
    "Signature-Input",
};

// Fields that hold of a message in one dialect of A2A, or of its bytes.
constexpr std::array<std::string_view, 13> fields_of_dialect{
    "A2A-Extensions",
    "A2A-Version",
    "Accept",
    "Content-Digest",
    "Content-Encoding",
    "Content-MD5",
    "Content-Type",
    "Digest",
    "Location",  // of what the agent has created, at the agent
    "Repr-Digest",
    "Signature",
    "Signature-Input",
    "X-A2A-Extensions",
};

bool begins(std::string_view name, std::string_view text) noexcept
{
    return core::equal_ignoring_case(name.substr(0, text.size()), text);
}

// Fields of the caller that go to an MCP server (MCP, basic/transports; W3C Trace Context). Session id and name are
// written by mcp_endpoint, which knows the server's own.
constexpr std::string_view user_agent = "User-Agent";  // firewalls refuse requests without one
constexpr std::string_view accept_field =
    "Accept";  // of the gateway's own: servers refuse clients that do not take both forms
constexpr std::array<std::string_view, 7> fields_of_mcp{
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "Mcp-Method",
    user_agent,
    "traceparent",
    "tracestate",
};

bool stays_outside_mcp(const net::http1::field& field, const core::agent& server) noexcept
{
    return !is_one_of(fields_of_mcp, field.name) && !begins(field.name, "Mcp-Param-") &&
           !names(server.mcp->forward_headers, field.name) && !names(server.of_callers.names, field.name);
}

// Writes the gateway's own fields for an MCP server, unless the agent's own fields have it.
void write_own_mcp_fields(
    std::string& text,
    net::http1::method verb,
    bool names_client,
    std::span<const std::string> own_fields
)
{
    net::http1::head_writer out{text};
    if (!names(own_fields, accept_field)) {
        const bool listens = verb == net::http1::method::get;
        out.field(accept_field, listens ? "text/event-stream" : "application/json, text/event-stream");
    }
    if (!names_client && !names(own_fields, user_agent)) {
        text.append("User-Agent: cardea/").append(model::version()).append("\r\n");
    }
}

// Fields of gRPC go to an agent that gets the caller's messages, but for the time that is left, and the codings of answers that are read.
bool stays_as_grpc(std::string_view name, const forwarding_hop& hop, bool edited) noexcept
{
    return begins(name, "grpc-") && (!hop.messages || core::equal_ignoring_case(name, "grpc-timeout") ||
                                     (edited && core::equal_ignoring_case(name, "grpc-accept-encoding")));
}

// The gateway says it of the call as the agent gets it.
bool is_said_otherwise(std::string_view name, const forwarding_hop& hop) noexcept
{
    const auto is = [&](std::string_view other) { return core::equal_ignoring_case(name, other); };
    return (hop.other_extensions && ::a2a::extension_field(name)) || (hop.other_version && is("A2A-Version")) ||
           (hop.other_session && (is("Last-Event-ID") || is("MCP-Protocol-Version")));
}

// How long a caller waits, to an agent that reads another field for it than the caller has written.
void write_waiting(std::string& text, const net::http1::field_list& fields, const forwarding_hop& hop)
{
    if (hop.by_grpc) {
        net::grpc::append_timeout(text += "grpc-timeout: ", hop.left);
        text += "\r\n";
    } else if (hop.waits && !hop.deadlines.empty() && net::http1::find(fields, hop.deadlines.front()) == nullptr) {
        write_deadline(text, hop.deadlines.front(), hop.left);
    }
}

// The value of a Max-Forwards that can be read.
std::optional<std::uint64_t> hops_left(const net::http1::field& field) noexcept
{
    std::uint64_t left = 0;
    const auto* const begin = field.value.data();
    const auto* const end = begin + field.value.size();
    if (!core::equal_ignoring_case(field.name, "Max-Forwards")) {
        return std::nullopt;
    }
    const auto read = std::from_chars(begin, end, left);
    return read.ec == std::errc{} && read.ptr == end ? std::optional{left} : std::nullopt;
}

}  // namespace

bool is_forwarded(
    std::string_view name,
    const model::agent_entry& server,
    const access::credential_reader* credentials
) noexcept
{
    const auto& record = server.record;
    const bool passes = names(record.mcp->forward_headers, name) || names(record.of_callers.names, name);
    return passes && !names(server.own_fields, name) && (credentials == nullptr || !credentials->is_key_header(name));
}

bool ends_here(const net::http1::request_head& head) noexcept
{
    return head.verb == net::http1::method::options &&
           (head.target == "*" || std::any_of(head.fields.begin(), head.fields.end(), [](const auto& field) {
                return hops_left(field) == 0;
            }));
}

void write_request_fields(
    std::string& text,
    const net::http1::request_head& head,
    const outgoing_body& body,
    const forwarding_hop& hop
)
{
    net::http1::head_writer out{text};
    net::write_via(text, head.fields, hop.http2 ? "2.0" : head.minor_version == 1 ? "1.1" : "1.0");
    const bool limited = head.verb == net::http1::method::options;
    const auto* server = hop.agent != nullptr && hop.agent->record.mcp ? &hop.agent->record : nullptr;
    const bool edited = body.answer != body_care::passes;
    const bool translated = body.answer == body_care::translated;
    const bool nominates = nominates_fields(head.fields);
    bool names_client = false;
    bool waits = hop.waits;
    for (const auto& field : head.fields) {
        if (names(hop.deadlines, field.name)) {
            waits = waits || parse_deadline(field.value).has_value();
            if (!hop.by_grpc && parse_deadline(field.value)) {
                write_deadline(text, field.name, hop.left);
            }
            continue;
        }
        if (stays_with_request(field.id) || stays_as_credential(field, hop) || stays_as_trace(field.id, hop) ||
            (edited && is_one_of(fields_on_form, field.name)) ||
            (translated && is_one_of(fields_of_dialect, field.name)) || stays_as_grpc(field.name, hop, edited) ||
            is_said_otherwise(field.name, hop) || stays_as_override(field.name, hop) ||
            (!hop.messages && field.name.find('_') != std::string_view::npos &&
             !(server != nullptr && begins(field.name, "Mcp-Param-"))) ||
            (server != nullptr && stays_outside_mcp(field, *server)) ||
            (nominates && net::http1::named_by_connection(head.fields, field.name))) {
            continue;
        }
        const auto left = limited ? hops_left(field) : std::nullopt;
        names_client = names_client || (server != nullptr && core::equal_ignoring_case(field.name, user_agent));
        if (left) {
            out.field(field.name, *left - std::min<std::uint64_t>(*left, 1));
        } else if (body.json && field.id == field_name::content_type && responses::is_alias_of_json(field.value)) {
            out.field(field.name, "application/json");
        } else {
            add_line(text, field);
        }
    }
    if (waits) {
        write_waiting(text, head.fields, hop);
    }
    if (server != nullptr) {
        write_own_mcp_fields(text, head.verb, names_client, hop.agent->own_fields);
    }
    if (hop.trace) {
        text += "traceparent: ";
        core::append_traceparent(text, hop.trace->context);
        text += "\r\n";
    }
    if (server == nullptr) {
        write_forwarding_fields(text, head.fields, hop);
    }
    if (edited) {
        out.field(hop.messages ? "grpc-accept-encoding" : "Accept-Encoding", "identity");
    }
    if (body.how == net::http1::framing::length) {
        out.field("Content-Length", body.size);
    } else if (body.how == net::http1::framing::chunked) {
        out.field("Transfer-Encoding", "chunked");
    }
    out.end();
}

void write_forwarded_fields(
    std::string& text,
    const net::http1::request_head& head,
    const outgoing_body& body,
    const forwarding_hop& hop
)
{
    net::http1::head_writer out{text};
    const bool nominates = nominates_fields(head.fields);
    for (const auto& field : head.fields) {
        // The other replica may trust this one as a proxy.
        const bool stays =
            (stays_with_request(field.id) && field.id != field_name::via) || stays_as_override(field.name, hop);
        // Without its session the message would be another one.
        const bool named = nominates && !core::equal_ignoring_case(field.name, "Mcp-Session-Id") &&
                           net::http1::named_by_connection(head.fields, field.name);
        if (!stays && !named) {
            add_line(text, field);
        }
    }
    auto way = hop;
    way.host = {};
    write_forwarding_fields(text, head.fields, way);
    out.field(forwarded_marker, "1");
    if (body.how != net::http1::framing::none) {
        out.field("Content-Length", body.size);
    }
    out.end();
}

void write_answer_fields(
    std::string& text,
    const net::http1::response_head& head,
    body_care body,
    answer_of from,
    std::string_view extensions_as
)
{
    text.clear();
    text.reserve(usual_head);
    net::http1::head_writer out{text};
    out.status_line(head.status);
    const bool edited = body != body_care::passes;
    const bool translated = body == body_care::translated;
    const bool nominates = nominates_fields(head.fields);
    for (const auto& field : head.fields) {
        const bool renamed = !extensions_as.empty() && ::a2a::extension_field(field.name);
        if (stays_with_answer(field.id, from) || (edited && is_one_of(fields_of_bytes, field.name)) ||
            (translated && !renamed && is_one_of(fields_of_dialect, field.name)) ||
            (from == answer_of::mcp_server && core::equal_ignoring_case(field.name, "Mcp-Session-Id")) ||
            (nominates && net::http1::named_by_connection(head.fields, field.name))) {
            continue;
        }
        if (renamed) {
            out.field(extensions_as, field.value);
        } else {
            add_line(text, field);
        }
    }
    if (edited) {
        out.field("Cache-Control", "private, no-store");
    }
}

std::string told_fields(const net::http1::response_head& head)
{
    std::string lines;
    for (const std::string_view name : {"Retry-After", "Allow", "WWW-Authenticate"}) {
        if (const auto* const value = net::http1::find(head.fields, name)) {
            net::http1::head_writer{lines}.field(name, *value);
        }
    }
    return lines;
}

}  // namespace gateway::relay
