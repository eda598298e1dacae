#include "a2a/canonical_json.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

namespace a2a {
namespace {

using core::json;

// The order of a UTF-8 sequence's first byte is that of its code point, and so is that of UTF-16, except that the
// surrogates of what has four bytes (D800 to DFFF) come before E000 to FFFF, which begin with EE or EF.
unsigned rank(unsigned char byte) noexcept
{
    const bool four_bytes = byte >= 0xF0;
    const bool after_surrogates = byte == 0xEE || byte == 0xEF;
    if (four_bytes) {
        return byte - 2U;
    }
    return after_surrogates ? byte + 8U : byte;
}

void append_string(std::string& out, std::string_view text)
{
    constexpr std::string_view short_escapes = "\b\t\n\f\r";
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (const auto at = short_escapes.find(c); at != std::string_view::npos) {
            out += '\\';
            out += "btnfr"[at];
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4U];
            out += hex[byte & 0x0FU];
        } else {
            out += c;
        }
    }
    out += '"';
}

// What a double holds exactly has its own digits.
void append_whole_number(std::string& out, const json& value)
{
    constexpr std::int64_t largest_exact = std::int64_t{1} << 53U;
    const auto number = value.get<double>();
    if (std::abs(number) >= static_cast<double>(largest_exact)) {
        out += canonical_number(number);
        return;
    }
    std::array<char, 20> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value.get<std::int64_t>());
    out.append(text.data(), end.ptr);
}

void append(std::string& out, const json& value);

void append_object(std::string& out, const json& object)
{
    std::vector<json::const_iterator> members;
    for (auto each = object.begin(); each != object.end(); ++each) {
        members.push_back(each);
    }
    std::ranges::sort(members, [](const auto& a, const auto& b) { return less_in_utf16(a.key(), b.key()); });
    out += '{';
    for (const auto& each : members) {
        append_string(out, each.key());
        out += ':';
        append(out, each.value());
        out += ',';
    }
    if (!members.empty()) {
        out.pop_back();
    }
    out += '}';
}

// As deep as parse_json() lets a document be.
void append(std::string& out, const json& value)
{
    switch (value.type()) {
        case json::value_t::object:
            append_object(out, value);
            return;
        case json::value_t::array:
            out += '[';
            for (const auto& each : value) {
                append(out, each);
                out += ',';
            }
            if (!value.empty()) {
                out.pop_back();
            }
            out += ']';
            return;
        case json::value_t::string:
            append_string(out, value.get_ref<const std::string&>());
            return;
        case json::value_t::number_integer:
        case json::value_t::number_unsigned:
            append_whole_number(out, value);
            return;
        case json::value_t::number_float:
            out += canonical_number(value.get<double>());
            return;
        case json::value_t::boolean:
            out += value.get<bool>() ? "true" : "false";
            return;
        case json::value_t::null:
        case json::value_t::binary:
        case json::value_t::discarded:
            break;
    }
    out += "null";
}

}  // namespace

bool less_in_utf16(std::string_view a, std::string_view b) noexcept
{
    const auto [in_a, in_b] = std::ranges::mismatch(a, b);
    if (in_a == a.end() || in_b == b.end()) {
        return in_a == a.end() && in_b != b.end();
    }
    // Within a sequence the ranks of continuation bytes are their own order.
    return rank(static_cast<unsigned char>(*in_a)) < rank(static_cast<unsigned char>(*in_b));
}

// ECMA-262, Number::toString: the shortest digits that mean the same double, then where the point goes.
std::string canonical_number(double value)
{
    assert(std::isfinite(value));
    if (value == 0) {
        return "0";
    }
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::scientific);
    const std::string_view all{text.data(), static_cast<std::size_t>(end.ptr - text.data())};
    const auto e = all.find('e');
    std::string digits{all.substr(0, 1)};
    if (e > 2) {
        digits += all.substr(2, e - 2);
    }
    int exponent = 0;
    const auto* from = all.data() + e + 1;
    std::from_chars(*from == '+' ? from + 1 : from, end.ptr, exponent);

    const int count = static_cast<int>(digits.size());
    const int point = exponent + 1;  // so many digits stand before it
    std::string out = value < 0 ? "-" : "";
    if (count <= point && point <= 21) {
        return out + digits + std::string(static_cast<std::size_t>(point - count), '0');
    }
    if (0 < point && point <= 21) {
        return out + digits.insert(static_cast<std::size_t>(point), ".");
    }
    if (-6 < point && point <= 0) {
        return out + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    }
    if (count > 1) {
        digits.insert(1, ".");
    }
    return out + digits + 'e' + (exponent < 0 ? "" : "+") + std::to_string(exponent);
}

std::string canonical_json(const json& value)
{
    std::string out;
    append(out, value);
    return out;
}

}  // namespace a2a
