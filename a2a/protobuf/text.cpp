#include "a2a/protobuf/text.hpp"

#include "core/ascii.hpp"
#include "core/json/json_bytes.hpp"
#include "core/utf8.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace a2a::protobuf {
namespace {

// The letter behind the backslash for a byte that is escaped so, or NUL.
constexpr std::array<char, 256> letters = [] {
    std::array<char, 256> table{};
    table['"'] = '"';
    table['\\'] = '\\';
    table['\b'] = 'b';
    table['\f'] = 'f';
    table['\n'] = 'n';
    table['\r'] = 'r';
    table['\t'] = 't';
    return table;
}();

// The byte that such a letter stands for.
constexpr std::array<char, 256> byte_of_letter = [] {
    std::array<char, 256> table{};
    for (std::size_t i = 0; i < letters.size(); ++i) {
        table[static_cast<unsigned char>(letters[i])] = static_cast<char>(i);
    }
    table['/'] = '/';
    return table;
}();

constexpr std::size_t longest_run_at_once = 16;
constexpr std::size_t longest_escape = 6;  // `\u001f`

// Copies a run of what ends at `end`. Most are short: sixteen bytes at once are faster than to ask for fewer, and there is room for them.
char* put_run(char* to, const char* from, std::size_t count, const char* end) noexcept
{
    if (count <= longest_run_at_once && static_cast<std::size_t>(end - from) >= longest_run_at_once) {
        std::memcpy(to, from, longest_run_at_once);
    } else {
        std::memcpy(to, from, count);
    }
    return to + count;
}

char* put_escape(char* to, char c) noexcept
{
    const auto byte = static_cast<unsigned char>(c);
    *to++ = '\\';
    if (letters[byte] != '\0') {
        *to++ = letters[byte];
        return to;
    }
    for (const char each : {'u', '0', '0', core::hex_digits[byte >> 4U], core::hex_digits[byte & 0x0FU]}) {
        *to++ = each;
    }
    return to;
}

// The code unit of the `\uXXXX` at `at`, which is whole.
std::uint32_t code_unit(const char* at) noexcept
{
    std::uint32_t unit = 0;
    for (std::size_t i = 2; i < 6; ++i) {
        const auto c = static_cast<unsigned char>(at[i]);
        unit = unit << 4U | (c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10);
    }
    return unit;
}

char* put_utf8(char* to, std::uint32_t point) noexcept
{
    const auto tail = [&to, point](unsigned shift) { *to++ = static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
    if (point < 0x80) {
        *to++ = static_cast<char>(point);
    } else if (point < 0x800) {
        *to++ = static_cast<char>(0xC0U | point >> 6U);
        tail(0);
    } else if (point < 0x10000) {
        *to++ = static_cast<char>(0xE0U | point >> 12U);
        tail(6);
        tail(0);
    } else {
        *to++ = static_cast<char>(0xF0U | point >> 18U);
        tail(12);
        tail(6);
        tail(0);
    }
    return to;
}

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

constexpr std::size_t longest_double = 32;

}  // namespace

bool put_json_text(text_sink& to, std::string_view text)
{
    const char* from = text.data();
    const char* const end = from + text.size();
    char* at = to.room(text.size() + 2 + longest_run_at_once);
    *at++ = '"';
    while (from != end) {
        const char* const run = from;
        from = core::wide_bytes::skip_plain(from, end);
        while (from != end && static_cast<unsigned char>(*from) >= 0x80) {
            const auto length = core::utf8_length(from, end);
            if (length == 0) {
                return false;
            }
            from += length;
        }
        at = put_run(at, run, static_cast<std::size_t>(from - run), end);
        if (from != end && !core::is(*from, core::byte_class::plain)) {
            to.took(at);
            at =
                put_escape(to.room(longest_escape + static_cast<std::size_t>(end - from) + longest_run_at_once), *from);
            ++from;
        }
    }
    *at++ = '"';
    to.took(at);
    return true;
}

bool put_unescaped(text_sink& sink, std::string_view raw)
{
    char* to = sink.room(raw.size() + longest_run_at_once);  // no escape is shorter than what it says
    const char* from = raw.data();
    const char* const end = from + raw.size();
    for (;;) {
        const char* const run = from;
        from = core::wide_bytes::skip_plain(from, end);
        if (from != end && *from != '\\') {
            const auto* const found = std::memchr(from, '\\', static_cast<std::size_t>(end - from));
            from = found == nullptr ? end : static_cast<const char*>(found);
        }
        to = put_run(to, run, static_cast<std::size_t>(from - run), end);
        if (from == end) {
            sink.took(to);
            return true;
        }
        if (from[1] != 'u') {
            *to++ = byte_of_letter[static_cast<unsigned char>(from[1])];
            from += 2;
            continue;
        }
        auto point = code_unit(from);
        from += 6;
        if (point >= 0xD800 && point <= 0xDFFF) {
            const bool pair = point < 0xDC00 && end - from >= 6 && from[0] == '\\' && from[1] == 'u';
            const auto low = pair ? code_unit(from) : 0;
            if (low < 0xDC00 || low > 0xDFFF) {
                return false;
            }
            point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
            from += 6;
        }
        to = put_utf8(to, point);
    }
}

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

}  // namespace a2a::protobuf
