#include "gateway/model/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gateway::model {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct character {
    std::size_t bytes = 0;  // 0: no UTF-8
    std::uint32_t code = 0;
};

// The one that `text` begins with, which is not empty (RFC 3629 section 4).
character first_of(std::string_view text)
{
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto lead = byte(0);
    if (lead < 0x80) {
        return {1, lead};
    }
    const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < size) {
        return {};
    }
    std::uint32_t code = lead & (0xFFU >> (size + 1));
    for (std::size_t at = 1; at < size; ++at) {
        if ((byte(at) & 0xC0) != 0x80) {
            return {};
        }
        code = code << 6 | (byte(at) & 0x3FU);
    }
    constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < smallest[size] || code > 0x10FFFF || surrogate ? character{} : character{size, code};
}

bool obeyed(std::uint32_t code)
{
    struct range {
        std::uint32_t first;
        std::uint32_t last;
    };
    constexpr std::array<range, 9> ranges{{
        {0x00, 0x1F},
        {0x7F, 0x9F},
        {0x061C, 0x061C},
        {0x200B, 0x200F},
        {0x2028, 0x202E},
        {0x2060, 0x206F},
        {0xFEFF, 0xFEFF},
        {0xFFF9, 0xFFFB},
        {0xE0000, 0xE007F},
    }};
    return std::any_of(ranges.begin(), ranges.end(), [&](const range& r) { return code >= r.first && code <= r.last; });
}

void append_unit(std::string& out, std::uint32_t unit)
{
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
        out += digits[unit >> shift & 0xF];
    }
}

void append_escape(std::string& out, std::uint32_t code)
{
    if (code > 0xFFFF) {
        append_unit(out, 0xD800 + ((code - 0x10000) >> 10));
        append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
        append_unit(out, code);
    }
}

std::size_t width_of(std::string_view printable_text)
{
    return static_cast<std::size_t>(std::count_if(printable_text.begin(), printable_text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

void flatten(const core::json& value, const std::string& path, std::vector<std::vector<std::string>>& into)
{
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, member] : value.items()) {
            flatten(member, path.empty() ? key : path + "." + key, into);
        }
    } else if (value.is_array() && !value.empty()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            flatten(value[i], path + "[" + std::to_string(i) + "]", into);
        }
    } else {
        into.push_back({path, value.is_string() ? value.get<std::string>() : core::to_text(value)});
    }
}

}  // namespace

std::string printable(std::string_view text, bool lines)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto next = first_of(text);
        if (next.bytes == 0) {
            out += replacement;
            text.remove_prefix(1);
            continue;
        }
        if (obeyed(next.code) && !(lines && next.code == '\n')) {
            append_escape(out, next.code);
        } else {
            out.append(text.substr(0, next.bytes));
        }
        text.remove_prefix(next.bytes);
    }
    return out;
}

std::string shown_json(const core::json& value)
{
    return printable(value.dump(2, ' ', false, core::json::error_handler_t::replace) + "\n", /*lines=*/true);
}

std::string shown_table(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::vector<std::string>> cells;
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        auto& made = cells.emplace_back();
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            made.push_back(printable(row[i]));
            widths[i] = std::max(widths[i], width_of(made[i]));
        }
    }
    std::string out;
    for (const auto& row : cells) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            out += row[i];
            if (i + 1 < row.size()) {
                out.append(widths[i] - width_of(row[i]) + 2, ' ');
            }
        }
        out.erase(out.find_last_not_of(' ') + 1);
        out += '\n';
    }
    return out;
}

std::vector<std::vector<std::string>> flattened(const core::json& value)
{
    std::vector<std::vector<std::string>> rows;
    flatten(value, {}, rows);
    return rows;
}

}  // namespace gateway::model
