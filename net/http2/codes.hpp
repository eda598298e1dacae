// Numbers and names of HTTP/2 that its users need without a session. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace net::http2 {

// The bytes that a caller without TLS begins with (RFC 9113 section 3.4).
inline constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// RFC 9113 section 7.
enum class error_code : std::uint32_t {
    no_error = 0,
    protocol_error = 1,
    internal_error = 2,
    flow_control_error = 3,
    settings_timeout = 4,
    stream_closed = 5,
    frame_size_error = 6,
    refused_stream = 7,
    cancel = 8,
    compression_error = 9,
    connect_error = 10,
    enhance_your_calm = 11,
    inadequate_security = 12,
    http_1_1_required = 13,
};

// Its name in RFC 9113, in lower case; `unknown` for another number.
std::string_view name(error_code code) noexcept;

enum class role : std::uint8_t { server, client };

// The end that has reset a stream or ended a connection.
enum class by : std::uint8_t { peer, us };

// The limits that a peer can exceed, as metrics name them.
enum class limit : std::uint8_t { streams, resets, control, pings, header, header_fields, continuations };
std::string_view name(limit which) noexcept;

}  // namespace net::http2
