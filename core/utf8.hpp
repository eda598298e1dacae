// UTF-8 (RFC 3629): whether text is, its code points, and where it may be cut. Pure; nothing allocates but append_escape().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace core {

// The length of the multi-byte sequence at `at`, which is before `end`, or 0 if there is no valid one.
inline std::size_t utf8_length(const char* at, const char* end) noexcept
{
    const auto byte = [at](std::size_t i) { return static_cast<unsigned char>(at[i]); };
    const auto within = [&byte](std::size_t i, unsigned low, unsigned high) {
        return byte(i) >= low && byte(i) <= high;
    };
    const auto left = end - at;
    const unsigned first = byte(0);
    if (first >= 0xC2 && first <= 0xDF) {
        return left >= 2 && within(1, 0x80, 0xBF) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : 0xBF;
        return left >= 3 && within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return left >= 4 && within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

inline constexpr std::uint32_t replacement_point = 0xFFFD;
inline constexpr std::string_view replacement_text = "\xEF\xBF\xBD";

// `text` without the byte order mark that it may begin with.
constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept
{
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.substr(text.starts_with(mark) ? mark.size() : 0);
}

struct code_point {
    std::uint32_t value = replacement_point;
    std::size_t bytes = 1;
};

// The first of `text`, which is not empty. A byte that begins no valid sequence is a replacement_point of one byte.
code_point first_code_point(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

// The first `longest` bytes of `text` at most, not ending within a sequence.
std::string_view cut_utf8(std::string_view text, std::size_t longest) noexcept;

// The code point as `\uXXXX`, or as two of these if it is beyond U+FFFF (RFC 8259 section 7).
void append_escape(std::string& out, std::uint32_t point);

}  // namespace core
