// The common parts of requests, responses and trailers: classes of bytes, the field section and the framing fields. Private to
// this folder. Everything goes strictly from the first byte to the last and decides at the earliest byte that allows it,
// which is what makes the parsers split-invariant.
#pragma once

#include "core/ascii.hpp"
#include "core/error.hpp"
#include "net/http1/fields.hpp"
#include "net/http1/head.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace net::http1 {

enum byte_class : std::uint8_t {
    token_byte = 1U << 0U,    // RFC 9110 section 5.6.2
    value_byte = 1U << 1U,    // RFC 9110 section 5.5: VCHAR, SP, HTAB, obs-text; no other control byte, no DEL
    path_byte = 1U << 2U,     // RFC 3986 sections 3.3, 3.4: pchar without its percent sign, "/" and "?"
    bracket_byte = 1U << 3U,  // "[" and "]", which only an authority has
    name_byte = 1U << 4U,     // RFC 3986 section 2.3: unreserved
    digit_byte = 1U << 5U,
    hex_byte = 1U << 6U,
};

namespace table {

constexpr bool one_of(unsigned byte, std::string_view set) noexcept
{
    return byte != 0 && byte < 0x80 && set.find(static_cast<char>(byte)) != std::string_view::npos;
}

constexpr std::uint8_t classify(unsigned byte) noexcept
{
    const auto character = static_cast<char>(byte);
    const bool digit = core::is_digit(character);
    const bool letter = core::is_letter(character);
    const bool visible_or_space = (byte >= 0x20 && byte != 0x7f) || byte == '\t';
    unsigned classes = 0;
    classes |= core::is_token_byte(character) ? token_byte : 0U;
    classes |= visible_or_space ? value_byte : 0U;
    classes |= digit || letter || one_of(byte, "-._~!$&'()*+,;=:@/?") ? path_byte : 0U;
    classes |= one_of(byte, "[]") ? bracket_byte : 0U;
    classes |= digit || letter || one_of(byte, "-._~") ? name_byte : 0U;
    classes |= digit ? digit_byte : 0U;
    classes |= core::hex_value(character) >= 0 ? hex_byte : 0U;
    return static_cast<std::uint8_t>(classes);
}

constexpr std::array<std::uint8_t, 256> build() noexcept
{
    std::array<std::uint8_t, 256> classes{};
    for (unsigned byte = 0; byte < classes.size(); ++byte) {
        classes[byte] = classify(byte);
    }
    return classes;
}

inline constexpr std::array<std::uint8_t, 256> classes = build();

}  // namespace table

// `wanted` is one byte_class or several of them together.
constexpr bool is(char byte, unsigned wanted) noexcept
{
    return (table::classes[static_cast<unsigned char>(byte)] & wanted) != 0;
}

// The index of the first byte at or after `at` that is in none of the `wanted` classes; in.size() if there is none.
constexpr std::size_t skip(std::string_view in, std::size_t at, unsigned wanted) noexcept
{
    const char* const end = in.data() + in.size();
    const char* byte = in.data() + at;
    while (byte != end && is(*byte, wanted)) {
        ++byte;
    }
    return static_cast<std::size_t>(byte - in.data());
}

// Skips like skip() for value_byte, a block at a time: tokens of callers are long.
std::size_t skip_values(std::string_view in, std::size_t at) noexcept;

// Skips like skip(), for classes with all letters, digits, and "-", "." and "/".
std::size_t skip_path(std::string_view in, std::size_t at, unsigned wanted) noexcept;

// A broken rule, or none. The rule is a literal: nothing of what the peer sent gets into it.
struct fault {
    core::errc code = core::errc::bad_request;
    const char* rule = nullptr;

    explicit operator bool() const noexcept { return rule != nullptr; }
};

constexpr fault bad(const char* rule) noexcept
{
    return {core::errc::bad_request, rule};
}

enum class line_result : std::uint8_t {
    more,   // the input ends inside the line
    field,  // one field more in the list
    end,    // the empty line: scan.at stands behind it
    failed,
};

// Goes on with the field section (RFC 9112 section 5) up to the end of one line. Of `limits`, those of fields and
// their values count. With `failed`, `why` says what is wrong.
line_result next_field(std::string_view in, head_scan& scan, field_list& fields, const head_limits& limits, fault& why);

// Takes the field whose line begins at `at` and ends as `line` says, with the rules of next_field().
fault known_field(
    std::string_view in,
    std::size_t at,
    const line_end& line,
    field_list& fields,
    const head_limits& limits
);

// RFC 9110 section 8.6: one or more digits; here, below 2^63.
std::optional<std::uint64_t> parse_length(std::string_view value) noexcept;

// Content-Length and Transfer-Encoding (RFC 9112 sections 6.1 to 6.3), noted in `scan` as they come:
//
//   Content-Length once, digits only                 its length
//   Content-Length twice, even equal, or a list      bad_request
//   Transfer-Encoding: chunked, once, in HTTP/1.1    chunked
//   Transfer-Encoding: x, chunked (x any tokens)     not_implemented
//   Transfer-Encoding otherwise, twice, or in 1.0    bad_request
//   both fields                                      bad_request
fault note_framing(const field& line, unsigned minor_version, head_scan& scan) noexcept;

// RFC 9110 section 7.6.1: a list of tokens; empty elements are allowed (section 5.6.1.2), but no more elements than anyone
// needs: each is compared with the name of each field. Notes `close`.
fault note_connection(std::string_view value, head_scan& scan) noexcept;

// RFC 9110 section 7.2: uri-host [ ":" port ], where the host is an IPv6 literal or made of unreserved characters only,
// which is narrower than RFC 3986: neither sub-delims nor percent signs are in any name that can be resolved.
bool valid_host(std::string_view value) noexcept;

}  // namespace net::http1
