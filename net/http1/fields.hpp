// HTTP field lines as views into the receive buffer, with the names that an intermediary must know by number.
#pragma once

#include "core/ascii.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace net::http1 {

enum class field_name : std::uint8_t {
    other,
    accept_encoding,
    api_key,  // X-API-Key and what else carries nothing but a credential
    authorization,
    cardea,  // any name that begins with "cardea-": ours alone
    connection,
    content_encoding,
    content_length,
    content_type,
    cookie,
    date,
    expect,
    forwarded,
    host,
    http2_settings,
    if_modified_since,
    if_none_match,
    keep_alive,
    // Fields of answers that change the state of the whole origin, let other origins in, or command a proxy in front (Alt-Svc,
    // Access-Control-*, X-Accel-*).
    of_origin,
    origin,
    proxy_authenticate,
    proxy_authorization,
    proxy_connection,
    server,
    set_cookie,
    te,
    traceparent,
    tracestate,
    trailer,
    transfer_encoding,
    upgrade,
    via,
    x_forwarded,  // any name that begins with "x-forwarded-", and x-real-ip
};

// Case-insensitive (RFC 9110 section 5.1).
field_name lookup_field(std::string_view name) noexcept;

// Puts the letters of a name into lower case.
void lower_name(char* name, std::size_t size) noexcept;

struct field {
    field_name id = field_name::other;
    std::string_view name;   // as it was written
    std::string_view value;  // without the white space around it
};

using field_list = std::vector<field>;  // in order of arrival; reused from message to message

// The value of the first such field, or null.
const std::string_view* find(const field_list& fields, field_name id) noexcept;

// Finds by name, for names without a number; `name` in any case.
const std::string_view* find(const field_list& fields, std::string_view name) noexcept;

// RFC 9110 section 7.6.1: what ends at this hop, whatever `Connection` says. Includes Content-Length and
// Transfer-Encoding, because framing is made again on output, and Trailer, because trailers are dropped.
bool hop_by_hop(field_name id) noexcept;

// Whether a `Connection` field of the message names `name` (RFC 9110 section 7.6.1): such a field ends here too.
// Host and other fields that the gateway sets itself are unaffected by what this says.
bool named_by_connection(const field_list& fields, std::string_view name) noexcept;

}  // namespace net::http1
