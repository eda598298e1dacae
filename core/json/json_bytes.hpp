// The meaning of single bytes and short sequences in JSON text: the tables and the fast steps under core/json/json_cursor.hpp.
// Pure functions over [at, end); none of them reads at `end`.
#pragma once

#include "core/utf8.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace core {

enum class byte_class : std::uint8_t {
    space = 1,   // RFC 8259 section 2
    digit = 2,   // 0-9
    hex = 4,     // 0-9 a-f A-F
    plain = 8,   // stands for itself in a string and is ASCII
    escape = 16  // may follow a backslash, except 'u'
};

namespace detail {

constexpr std::array<std::uint8_t, 256> classify_bytes()
{
    std::array<std::uint8_t, 256> table{};
    const auto mark = [&table](unsigned byte, byte_class as) {
        table[byte] = static_cast<std::uint8_t>(table[byte] | static_cast<std::uint8_t>(as));
    };
    for (const char c : {' ', '\t', '\n', '\r'}) {
        mark(static_cast<unsigned char>(c), byte_class::space);
    }
    for (unsigned c = '0'; c <= '9'; ++c) {
        mark(c, byte_class::digit);
        mark(c, byte_class::hex);
    }
    for (unsigned c = 'a'; c <= 'f'; ++c) {
        mark(c, byte_class::hex);
        mark(c - 'a' + 'A', byte_class::hex);
    }
    for (unsigned c = 0x20; c < 0x80; ++c) {
        if (c != '"' && c != '\\') {
            mark(c, byte_class::plain);
        }
    }
    for (const char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) {
        mark(static_cast<unsigned char>(c), byte_class::escape);
    }
    return table;
}

inline constexpr std::array<std::uint8_t, 256> byte_classes = classify_bytes();

}  // namespace detail

inline bool is(char c, byte_class wanted) noexcept
{
    return (detail::byte_classes.data()[static_cast<unsigned char>(c)] & static_cast<std::uint8_t>(wanted)) != 0;
}

// Passes over string bytes that stand for themselves, one by one: ASCII without controls, quote and backslash.
struct single_bytes {
    static const char* skip_plain(const char* at, const char* end) noexcept
    {
        while (at != end && is(*at, byte_class::plain)) {
            ++at;
        }
        return at;
    }
};

#if defined(__SSE2__)
// Looks at sixteen bytes at a time, at four times that in long texts.
struct wide_bytes {
    static const char* skip_plain(const char* at, const char* end) noexcept
    {
        if (end - at >= 16) {
            if (const auto mask = mask_of(special_in(at)); mask != 0) {
                return at + std::countr_zero(mask);  // most texts are short
            }
            for (at = skip_blocks(at + 16, end); end - at >= 16; at += 16) {
                if (const auto mask = mask_of(special_in(at)); mask != 0) {
                    return at + std::countr_zero(mask);
                }
            }
        }
        return single_bytes::skip_plain(at, end);
    }

private:
    static unsigned mask_of(__m128i bytes) noexcept { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }

    static __m128i special_in(const char* at) noexcept
    {
        const auto block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        // Signed: bytes from 0x80 are below the space as well as the control characters, and so is the quote (0x22) once its second bit
        // is turned, which brings no other byte there.
        const auto turned = _mm_xor_si128(block, _mm_set1_epi8(2));
        return _mm_or_si128(_mm_cmplt_epi8(turned, _mm_set1_epi8('!')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
    }

    // Over blocks of four that have nothing special.
    static const char* skip_blocks(const char* at, const char* end) noexcept
    {
        while (end - at >= 64) {
            const auto first = _mm_or_si128(special_in(at), special_in(at + 16));
            const auto second = _mm_or_si128(special_in(at + 32), special_in(at + 48));
            if (mask_of(_mm_or_si128(first, second)) != 0) {
                break;
            }
            at += 64;
        }
        return at;
    }
};
#else
using wide_bytes = single_bytes;
#endif

// For texts that have been checked: values are passed over by their quotes and brackets alone, whose names and what is at hand are read as
// elsewhere. Of any other text it makes nonsense, within its bounds.
struct trusted_bytes : wide_bytes {};

// The length of the escape that starts with the backslash at `at`, or 0 (RFC 8259 section 7).
inline std::size_t escape_length(const char* at, const char* end) noexcept
{
    if (end - at < 2) {
        return 0;
    }
    if (is(at[1], byte_class::escape)) {
        return 2;
    }
    if (at[1] != 'u' || end - at < 6) {
        return 0;
    }
    const bool hex = is(at[2], byte_class::hex) && is(at[3], byte_class::hex) && is(at[4], byte_class::hex) &&
                     is(at[5], byte_class::hex);
    return hex ? 6 : 0;
}

inline const char* skip_digits(const char* at, const char* end) noexcept
{
    while (at != end && is(*at, byte_class::digit)) {
        ++at;
    }
    return at;
}

// Behind the number at `at`, or null if there is none (RFC 8259 section 6).
inline const char* number_end(const char* at, const char* end) noexcept
{
    if (at != end && *at == '-') {
        ++at;
    }
    const char* behind = skip_digits(at, end);
    if (behind == at || (*at == '0' && behind != at + 1)) {
        return nullptr;
    }
    if (behind != end && *behind == '.') {
        at = behind + 1;
        behind = skip_digits(at, end);
        if (behind == at) {
            return nullptr;
        }
    }
    if (behind != end && (*behind == 'e' || *behind == 'E')) {
        at = behind + 1;
        if (at != end && (*at == '+' || *at == '-')) {
            ++at;
        }
        behind = skip_digits(at, end);
        if (behind == at) {
            return nullptr;
        }
    }
    return behind;
}

struct passed_string {
    const char*
        behind;    // null if the string is not closed, has a bare control character or a bad escape, or is not UTF-8
    bool escaped;  // has at least one escape
};

// Passes over the string whose opening quote is at `at` (RFC 8259 section 7).
template <class Bytes>
passed_string string_end(const char* at, const char* end) noexcept
{
    bool escaped = false;
    ++at;
    for (;;) {
        at = Bytes::skip_plain(at, end);
        if (at == end) {
            return {nullptr, escaped};
        }
        if (*at == '"') {
            return {at + 1, escaped};
        }
        if (*at == '\\') {
            const auto length = escape_length(at, end);
            if (length == 0) {
                return {nullptr, escaped};
            }
            escaped = true;
            at += length;
            continue;
        }
        // Bytes beyond ASCII come in runs.
        do {
            const auto length = utf8_length(at, end);
            if (length == 0) {
                return {nullptr, escaped};
            }
            at += length;
        } while (at != end && static_cast<unsigned char>(*at) >= 0x80);
    }
}

// Behind the string whose opening quote is at `at`, in text that has been checked; null if it is not closed.
inline const char* trusted_string_end(const char* at, const char* end) noexcept
{
    const char* const begin = ++at;
    while (at != end) {
        at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
        if (at == nullptr) {
            return nullptr;
        }
        const char* run = at;
        while (run != begin && run[-1] == '\\') {
            --run;
        }
        ++at;
        if ((at - run) % 2 != 0) {
            return at;
        }
    }
    return nullptr;
}

// Behind the container whose bracket is at `at`, in text that has been checked; null if it is not closed.
inline const char* trusted_container_end(const char* at, const char* end) noexcept
{
    std::size_t open = 0;
    while (at != end) {
        if (*at == '"') {
            at = trusted_string_end(at, end);
            if (at == nullptr) {
                return nullptr;
            }
            continue;
        }
        // The bit that tells braces from square brackets.
        const auto kind = *at | 0x20;
        ++at;
        if (kind == '{') {
            ++open;
        } else if (kind == '}' && --open == 0) {
            return at;
        }
    }
    return nullptr;
}

}  // namespace core
