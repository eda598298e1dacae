#include "core/json/json_writer.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace core {
namespace {

// ASCII that stands for itself in a string.
bool is_plain(char c) noexcept
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

// Whether a terminal or a viewer acts on it: a control, also of the second kind (U+0080 to U+009F), or one that ends the line
// or turns the direction of reading.
bool is_acted_on(std::uint32_t point) noexcept
{
    const bool turns = point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
                       (point >= 0x2066 && point <= 0x2069);
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || turns || point == 0x2028 || point == 0x2029;
}

void append_special(std::string& out, std::uint32_t point, std::string_view text)
{
    switch (point) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        case replacement_point:
            out += replacement_text;
            return;
        default:
            if (is_acted_on(point)) {
                append_escape(out, point);
            } else {
                out += text;
            }
    }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text)
{
    out += '"';
    while (!text.empty()) {
        const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (!text.empty()) {
            const auto first = first_code_point(text);
            append_special(out, first.value, text.substr(0, first.bytes));
            text.remove_prefix(first.bytes);
        }
    }
    out += '"';
}

void json_writer::value(double number)
{
    std::array<char, 32> digits{};
    const auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

}  // namespace core
