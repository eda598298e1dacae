#include "config/source_text.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace config {
namespace {

std::string control_character(unsigned char c)
{
    constexpr std::string_view hex = "0123456789ABCDEF";
    return std::string{"has the control character 0x"} + hex[c >> 4U] + hex[c & 0x0FU] + "; expected text";
}

std::optional<unsigned> utf16_escape(std::string_view text, unsigned low, unsigned high)
{
    if (text.size() < 6 || !text.starts_with("\\u")) {
        return {};
    }
    unsigned value = 0;
    const auto* const end = text.data() + 6;
    const auto read = std::from_chars(text.data() + 2, end, value, 16);
    return read.ptr == end && value >= low && value <= high ? std::optional{value} : std::nullopt;
}

place place_of(std::string_view text, std::size_t at)
{
    const auto before = text.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n');
    const auto begin = before.rfind('\n');  // npos + 1 is 0
    return {static_cast<unsigned>(line) + 1, static_cast<unsigned>(at - (begin + 1)) + 1};
}

}  // namespace

std::optional<foreign_text> not_text(std::string_view text)
{
    place at;
    while (!text.empty()) {
        const char c = text.front();
        if (core::is_control(c) && c != '\t' && c != '\n' && c != '\r') {
            return foreign_text{at, control_character(static_cast<unsigned char>(c))};
        }
        const auto length =
            static_cast<unsigned char>(c) < 0x80 ? 1 : core::utf8_length(text.data(), text.data() + text.size());
        if (length == 0) {
            return foreign_text{at, "is not UTF-8; expected text in UTF-8"};
        }
        if (c == '\n') {
            at = {at.line + 1, 1};
        } else {
            at.column += static_cast<unsigned>(length);
        }
        text.remove_prefix(length);
    }
    return {};
}

std::string join_surrogates(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '\\') {
            out += text[i++];
            continue;
        }
        const auto high = utf16_escape(text.substr(i), 0xD800, 0xDBFF);
        const auto low = high ? utf16_escape(text.substr(i + 6), 0xDC00, 0xDFFF) : std::nullopt;
        if (!low) {
            out += text.substr(i, 2);
            i += 2;
            continue;
        }
        const unsigned point = 0x10000 + ((*high - 0xD800) << 10U) + (*low - 0xDC00);
        out += "\\U";
        for (unsigned shift = 32; shift > 0; shift -= 4) {
            out += core::hex_digits[(point >> (shift - 4)) & 0x0FU];
        }
        i += 12;
    }
    return out;
}

std::optional<foreign_text> blank_comments(std::string& json)
{
    constexpr std::string_view blanks = " \t\r\n";
    bool quoted = false;
    bool begun = false;
    for (auto i = json.size() - core::without_byte_order_mark(json).size(); i < json.size(); ++i) {
        if (quoted) {
            quoted = json[i] != '"';
            i += json[i] == '\\' ? 1 : 0;
            continue;
        }
        const auto opening = std::string_view{json}.substr(i, 2);
        const bool line = opening == "//";
        if (line || opening == "/*") {
            const auto end = line ? std::min(json.find_first_of("\r\n", i), json.size()) : json.find("*/", i + 2);
            if (end == std::string::npos) {
                return foreign_text{place_of(json, i), "a comment that begins with /* has no */"};
            }
            const auto behind = line ? end : end + 2;
            std::replace_if(
                json.begin() + static_cast<std::ptrdiff_t>(i),
                json.begin() + static_cast<std::ptrdiff_t>(behind),
                [](char c) { return c != '\n' && c != '\r'; },
                ' '
            );
            i = behind - 1;
            continue;
        }
        if (!begun && blanks.find(json[i]) == blanks.npos) {
            begun = json[i] == '{' || json[i] == '[';
            if (!begun) {
                return {};
            }
        }
        quoted = json[i] == '"';
    }
    return {};
}

}  // namespace config
