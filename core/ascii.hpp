// Letters, digits and blanks of ASCII, tokens of HTTP, and hexadecimal digits. Bytes beyond ASCII are none of these and have no case. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace core {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

constexpr bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) noexcept
{
    const auto small = static_cast<char>(c | 0x20);
    return small >= 'a' && small <= 'z';
}

// C0 or DEL.
constexpr bool is_control(char c) noexcept
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

namespace detail {

constexpr std::array<char, 256> lower_case = [] {
    std::array<char, 256> lower{};
    for (std::size_t byte = 0; byte < lower.size(); ++byte) {
        lower[byte] = static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
    }
    return lower;
}();

constexpr std::array<bool, 256> token_bytes = [] {
    std::array<bool, 256> tokens{};
    for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
        tokens[byte] = is_letter(static_cast<char>(byte)) || is_digit(static_cast<char>(byte));
    }
    for (const char mark : std::string_view{"!#$%&'*+-.^_`|~"}) {
        tokens[static_cast<unsigned char>(mark)] = true;
    }
    return tokens;
}();

}  // namespace detail

constexpr char lower(char c) noexcept
{
    return detail::lower_case[static_cast<unsigned char>(c)];
}

// The value of a hexadecimal digit; -1: it is none.
constexpr int hex_value(char c) noexcept
{
    if (is_digit(c)) {
        return c - '0';
    }
    const auto small = lower(c);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

inline std::string in_lower_case(std::string_view text)
{
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept
{
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char one, char other) { return lower(one) == lower(other); });
}

// Where `wanted` stands first in `text`, whatever the case of letters; npos: nowhere.
constexpr std::size_t find_ignoring_case(std::string_view text, std::string_view wanted) noexcept
{
    const auto same = [](char one, char other) { return lower(one) == lower(other); };
    const auto* const found = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same);
    return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

// RFC 9110 section 5.6.2.
constexpr bool is_token_byte(char c) noexcept
{
    return detail::token_bytes[static_cast<unsigned char>(c)];
}

constexpr bool is_token(std::string_view text) noexcept
{
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_byte);
}

// Without the spaces and tabs around it (OWS, RFC 9110 section 5.6.3).
constexpr std::string_view trim(std::string_view text) noexcept
{
    const auto is_white = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_white(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_white(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

// Without the bytes of `edges` around it.
constexpr std::string_view trim(std::string_view text, std::string_view edges) noexcept
{
    text.remove_prefix(std::min(text.find_first_not_of(edges), text.size()));
    return text.substr(0, text.find_last_not_of(edges) + 1);
}

// A number as hexadecimal digits, all at once. Pure.
namespace detail {

// The digits of 32 bits as bytes, the first of them lowest: every half byte becomes a byte, and then its digit.
constexpr std::uint64_t hex_bytes(std::uint32_t number) noexcept
{
    constexpr std::uint64_t every = 0x0101010101010101;
    std::uint64_t halves = number;
    halves = (halves << 16U | halves) & 0x0000FFFF0000FFFF;
    halves = (halves << 8U | halves) & 0x00FF00FF00FF00FF;
    halves = (halves << 4U | halves) & 0x0F0F0F0F0F0F0F0F;
    const auto letters = (halves + every * 6) >> 4U & every;  // 1 for each from 10 on
    return __builtin_bswap64(halves + every * '0' + letters * ('a' - '0' - 10));
}

}  // namespace detail

// 16 of them, in lower case.
constexpr std::array<char, 16> hex_digits_of(std::uint64_t number) noexcept
{
    static_assert(std::endian::native == std::endian::little);
    return std::bit_cast<std::array<char, 16>>(std::array{
        detail::hex_bytes(static_cast<std::uint32_t>(number >> 32U)),
        detail::hex_bytes(static_cast<std::uint32_t>(number))
    });
}

}  // namespace core
