#include "gateway/model/terminal_text.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gateway::model {
namespace {

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
            auto inner = path.empty() ? key : path + '.';
            inner += path.empty() ? "" : key;
            flatten(member, inner, into);
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
        const auto next = core::first_code_point(text);
        if (next.value == core::replacement_point) {
            out += core::replacement_text;
        } else if (obeyed(next.value) && !(lines && next.value == '\n')) {
            core::append_escape(out, next.value);
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
        auto& line = cells.emplace_back();
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            line.push_back(printable(row[i]));
            widths[i] = std::max(widths[i], width_of(line[i]));
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
