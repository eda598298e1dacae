#include "a2a/protobuf/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

namespace a2a::protobuf {
namespace {

// A decimal number without its sign: 0.DIGITS * 10^exponent, without zeros at either end.
struct decimal {
    std::string digits;
    long long exponent = 0;

    bool operator==(const decimal&) const = default;
};

decimal decimal_of(std::string_view text)
{
    decimal read;
    read.digits.reserve(text.size());
    const auto mark = std::min(text.find_first_of("eE"), text.size());
    auto exponent = text.substr(std::min(mark + 1, text.size()));
    exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
    // An exponent beyond a long long is one of 0 or of no double, which have been dealt with.
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), read.exponent);
    bool fraction = false;
    for (const char c : text.substr(0, mark)) {
        if (c == '.') {
            fraction = true;
        } else if (c != '-' && (c != '0' || !read.digits.empty())) {
            read.digits += c;
            read.exponent += fraction ? 0 : 1;
        } else if (c == '0' && fraction) {
            --read.exponent;
        }
    }
    read.digits.resize(read.digits.find_last_not_of('0') + 1);
    return read.digits.empty() ? decimal{} : read;
}

constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_letter = 0xFF;

constexpr std::array<std::uint8_t, 256> letter_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_letter);
    for (std::size_t i = 0; i < base64_letters.size(); ++i) {
        values[static_cast<unsigned char>(base64_letters[i])] = static_cast<std::uint8_t>(i);
    }
    values['-'] = 62;
    values['_'] = 63;
    return values;
}();

// Two letters for each twelve bits: half of the steps.
constexpr std::array<std::array<char, 2>, 4096> letter_pairs = [] {
    std::array<std::array<char, 2>, 4096> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {base64_letters[i >> 6U], base64_letters[i & 63U]};
    }
    return pairs;
}();

constexpr std::size_t longest_double = 32;

}  // namespace

void put_double(text_sink& to, double value)
{
    char* const begin = to.room(longest_double);
    char* const end = begin + longest_double;
    if (std::abs(value) < 1e15) {
        const auto whole = static_cast<std::int64_t>(value);
        if (static_cast<double>(whole) == value && (whole != 0 || !std::signbit(value))) {
            to.took(std::to_chars(begin, end, whole).ptr);  // mostly, and the fastest
            return;
        }
    }
    const bool digits_only = std::abs(value) < 1e21 && value == std::trunc(value);
    to.took(
        digits_only ? std::to_chars(begin, end, value, std::chars_format::fixed).ptr
                    : std::to_chars(begin, end, value).ptr
    );
}

std::optional<double> nearest_double(std::string_view text)
{
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc::result_out_of_range) {
        return value;
    }
    // Too small is 0, too large is nothing.
    return decimal_of(text).exponent > 0 ? std::nullopt : std::optional{0.0};
}

bool is_exactly(std::string_view text, double value)
{
    // A double that is not subnormal holds any number of fifteen digits.
    if (std::min(text.find_first_of("eE"), text.size()) <= 15 && std::isnormal(value)) {
        return true;
    }
    if (value == 0) {
        return text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
    }
    const auto said = decimal_of(text);
    std::array<char, 800> room{};
    const auto shortest = std::to_chars(room.begin(), room.end(), value, std::chars_format::scientific).ptr;
    if (said == decimal_of({room.begin(), shortest})) {
        return true;
    }
    // No double has more than 767 digits.
    const int places = static_cast<int>(std::min<std::size_t>(said.digits.size(), 770)) - 1;
    const auto rounded = std::to_chars(room.begin(), room.end(), value, std::chars_format::scientific, places).ptr;
    return said == decimal_of({room.begin(), rounded});
}

void put_base64(text_sink& sink, std::string_view bytes)
{
    const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
    char* to = sink.room((bytes.size() + 2) / 3 * 4);
    const auto put = [&to](std::uint32_t twelve_bits) {
        std::memcpy(to, letter_pairs[twelve_bits & 0xFFFU].data(), 2);
        to += 2;
    };
    for (auto left = bytes.size() / 3; left > 0; --left, from += 3) {
        put(static_cast<std::uint32_t>(from[0]) << 4U | from[1] >> 4U);
        put(static_cast<std::uint32_t>(from[1]) << 8U | from[2]);
    }
    if (bytes.size() % 3 == 2) {
        put(static_cast<std::uint32_t>(from[0]) << 4U | from[1] >> 4U);
        put(static_cast<std::uint32_t>(from[1]) << 8U);
        to[-1] = '=';
    } else if (bytes.size() % 3 == 1) {
        put(static_cast<std::uint32_t>(from[0]) << 4U);
        *to++ = '=';
        *to++ = '=';
    }
    sink.took(to);
}

bool put_decoded_base64(text_sink& sink, std::string_view text)
{
    // Padding makes the length a multiple of four; without it nothing does.
    if (text.ends_with('=')) {
        if (text.size() % 4 != 0) {
            return false;
        }
        text.remove_suffix(text.ends_with("==") ? 2 : 1);
    }
    if (text.size() % 4 == 1) {
        return false;
    }
    char* to = sink.room(text.size() * 3 / 4);
    const auto* from = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const values = letter_values.data();
    std::uint32_t bad = 0;
    for (auto left = text.size() / 4; left > 0; --left, from += 4, to += 3) {
        const std::uint32_t a = values[from[0]];
        const std::uint32_t b = values[from[1]];
        const std::uint32_t c = values[from[2]];
        const std::uint32_t d = values[from[3]];
        bad |= a | b | c | d;
        to[0] = static_cast<char>(a << 2U | b >> 4U);
        to[1] = static_cast<char>(b << 4U | c >> 2U);
        to[2] = static_cast<char>(c << 6U | d);
    }
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < text.size() % 4; ++i) {
        const std::uint32_t value = values[from[i]];
        bad |= value;
        bits = bits << 6U | value;
        if (i > 0) {
            *to++ = static_cast<char>(bits >> (6 - 2 * i));
        }
    }
    sink.took(to);
    return (bad & 0xC0U) == 0;
}

}  // namespace a2a::protobuf
