#include "core/utf8.hpp"

#include "core/ascii.hpp"

namespace core {
namespace {

void append_code_unit(std::string& out, std::uint32_t unit)
{
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) {
        out += hex_digits[(unit >> shift) & 0x0FU];
    }
}

}  // namespace

code_point first_code_point(std::string_view text) noexcept
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) {
        return {byte(0), 1};
    }
    const auto length = utf8_length(text.data(), text.data() + text.size());
    if (length == 0) {
        return {};
    }
    std::uint32_t value = byte(0) & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        value = (value << 6U) | (byte(i) & 0x3FU);
    }
    return {value, length};
}

bool is_utf8(std::string_view text) noexcept
{
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
        const auto length = static_cast<unsigned char>(*at) < 0x80 ? 1 : utf8_length(at, end);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

std::string_view cut_utf8(std::string_view text, std::size_t longest) noexcept
{
    if (text.size() <= longest) {
        return text;
    }
    // A sequence has at most three bytes behind its first; more of them are not UTF-8 anyway.
    std::size_t end = longest;
    while (end > 0 && longest - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end);
}

void append_escape(std::string& out, std::uint32_t point)
{
    if (point < 0x10000) {
        append_code_unit(out, point);
        return;
    }
    append_code_unit(out, 0xD800 + ((point - 0x10000) >> 10U));
    append_code_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FFU));
}

}  // namespace core
