#include "a2a/protobuf/json_text.hpp"

#include "core/json/json_bytes.hpp"
#include "core/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace a2a::protobuf {
namespace {

constexpr std::string_view letters_escaped = "\"\\/\b\f\n\r\t";
constexpr std::string_view letters_after_backslash = "\"\\/bfnrt";

void append_escaped(std::string& out, char c)
{
    const auto at = letters_escaped.find(c);
    if (at == std::string_view::npos) {
        core::append_escape(out, static_cast<unsigned char>(c));
    } else {
        out += '\\';
        out += letters_after_backslash[at];
    }
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

void append_utf8(std::string& out, std::uint32_t point)
{
    const auto tail = [&out, point](unsigned shift) { out += static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0U | point >> 6U);
        tail(0);
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0U | point >> 12U);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0U | point >> 18U);
        tail(12);
        tail(6);
        tail(0);
    }
}

}  // namespace

bool append_json_text(std::string& out, std::string_view text)
{
    out += '"';
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const char* const run = at;
        at = core::wide_bytes::skip_plain(at, end);
        while (at != end && static_cast<unsigned char>(*at) >= 0x80) {
            const auto length = core::utf8_length(at, end);
            if (length == 0) {
                return false;
            }
            at += length;
        }
        out.append(run, at);
        if (at != end && !core::is(*at, core::byte_class::plain)) {
            append_escaped(out, *at++);
        }
    }
    out += '"';
    return true;
}

bool append_unescaped(std::string& out, std::string_view raw)
{
    for (;;) {
        const auto plain = raw.substr(0, raw.find('\\'));
        out += plain;
        raw.remove_prefix(plain.size());
        if (raw.empty()) {
            return true;
        }
        if (raw[1] != 'u') {
            out += letters_escaped[letters_after_backslash.find(raw[1])];
            raw.remove_prefix(2);
            continue;
        }
        auto point = code_unit(raw.data());
        raw.remove_prefix(6);
        if (point >= 0xD800 && point <= 0xDFFF) {
            const auto low = point < 0xDC00 && raw.starts_with("\\u") ? code_unit(raw.data()) : 0;
            if (low < 0xDC00 || low > 0xDFFF) {
                return false;
            }
            point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
            raw.remove_prefix(6);
        }
        append_utf8(out, point);
    }
}

}  // namespace a2a::protobuf
