#include "a2a/protobuf/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_letter = 0xFF;

constexpr std::array<std::uint8_t, 256> letter_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_letter);
    for (std::size_t i = 0; i < letters.size(); ++i) {
        values[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
    }
    values['-'] = 62;
    values['_'] = 63;
    return values;
}();

}  // namespace

void append_double(std::string& out, double value)
{
    std::array<char, 32> room{};
    char* end = room.data();
    if (value == std::trunc(value) && std::abs(value) < 1e15 && (value != 0 || !std::signbit(value))) {
        end = std::to_chars(room.begin(), room.end(), static_cast<std::int64_t>(value))
                  .ptr;  // the common case, and the fastest
    } else if (value == std::trunc(value) && std::abs(value) < 1e21) {
        end = std::to_chars(room.begin(), room.end(), value, std::chars_format::fixed).ptr;
    } else {
        end = std::to_chars(room.begin(), room.end(), value).ptr;
    }
    out.append(room.data(), end);
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
    // Doubles hold any number of fifteen digits that is far from the ends of their range.
    if (text.size() <= 15 && text.find_first_of("eE") == std::string_view::npos) {
        return true;
    }
    if (value == 0) {
        return text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
    }
    const auto said = decimal_of(text);
    std::array<char, 1200> room{};
    const auto shortest = std::to_chars(room.begin(), room.end(), value, std::chars_format::scientific).ptr;
    if (said == decimal_of({room.begin(), shortest})) {
        return true;
    }
    // Printing with up to 17 digits gives what was meant, too; the longest exact text of a double has 767.
    const auto count = said.digits.size();
    const int places = count <= 17 ? static_cast<int>(count) - 1 : 770;
    const auto exact = std::to_chars(room.begin(), room.end(), value, std::chars_format::scientific, places).ptr;
    return said == decimal_of({room.begin(), exact});
}

void append_base64(std::string& out, std::string_view bytes)
{
    const auto byte = [bytes](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
    };
    auto to = out.size();
    out.resize(to + (bytes.size() + 2) / 3 * 4, '=');
    std::size_t i = 0;
    const auto put = [&out, &to](std::uint32_t bits, unsigned count) {
        for (unsigned shift = 18; count > 0; --count, shift -= 6) {
            out[to++] = letters[(bits >> shift) & 63U];
        }
    };
    for (; i + 3 <= bytes.size(); i += 3) {
        put(byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2), 4);
    }
    if (bytes.size() - i == 2) {
        put(byte(i) << 16U | byte(i + 1) << 8U, 3);
    } else if (bytes.size() - i == 1) {
        put(byte(i) << 16U, 2);
    }
}

bool append_decoded_base64(std::string& out, std::string_view text)
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
    auto to = out.size();
    out.resize(to + text.size() * 3 / 4);
    std::uint32_t bits = 0;
    std::uint32_t bad = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::uint32_t value = letter_values[static_cast<unsigned char>(text[i])];
        bad |= value & 0xC0U;
        bits = bits << 6U | (value & 63U);
        if (i % 4 != 0) {
            out[to++] = static_cast<char>(bits >> (6 - 2 * (i % 4)));
        }
    }
    return bad == 0;
}

}  // namespace a2a::protobuf
