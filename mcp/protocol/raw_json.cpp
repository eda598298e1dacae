#include "mcp/protocol/raw_json.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

core::error not_json(std::string_view why)
{
    return core::upstream_error(core::errc::parse_error, std::string{why});
}

bool read_members(cursor_type& cursor, std::vector<raw_member>& members)
{
    return cursor.object([&members](std::string_view name, bool escaped, std::string_view value) {
        members.push_back({escaped ? core::unescape_json(name) : std::string{name}, value});
        return members.size() <= max_members;
    });
}

bool is_hex_surrogate(std::string_view text, std::string_view second_digit) noexcept
{
    return text.size() >= 6 && text[0] == '\\' && text[1] == 'u' && (text[2] == 'd' || text[2] == 'D') &&
           second_digit.find(text[3]) != std::string_view::npos;
}

bool is_high_surrogate(std::string_view text) noexcept
{
    return is_hex_surrogate(text, "89abAB");
}

bool is_low_surrogate(std::string_view text) noexcept
{
    return is_hex_surrogate(text, "cdefCDEF");
}

// Takes the string at the start of `raw`, quotes included.
void append_string(std::string& out, std::string_view& raw)
{
    out += '"';
    raw.remove_prefix(1);
    while (!raw.empty()) {
        const auto plain = std::min(raw.find_first_of("\"\\"), raw.size());
        out += raw.substr(0, plain);
        raw.remove_prefix(plain);
        if (raw.empty()) {
            return;
        }
        if (raw.front() == '"') {
            out += '"';
            raw.remove_prefix(1);
            return;
        }
        std::size_t length = std::min<std::size_t>(raw.size() > 1 && raw[1] == 'u' ? 6 : 2, raw.size());
        if (is_high_surrogate(raw) && is_low_surrogate(raw.substr(6))) {
            length = 12;
        } else if (is_high_surrogate(raw) || is_low_surrogate(raw)) {
            out += "\\ufffd";
            raw.remove_prefix(length);
            continue;
        }
        out += raw.substr(0, length);
        raw.remove_prefix(length);
    }
}

}  // namespace

core::result<raw_object> raw_object::read(std::string_view text, unsigned depth)
{
    cursor_type cursor{text, depth};
    cursor.skip_space();
    const bool object = cursor.peek() == '{';
    raw_object read;
    const bool whole = object ? read_members(cursor, read.members_) : cursor.value();
    if (read.members_.size() > max_members) {
        return core::upstream_error(core::errc::invalid_request, "an object with too many members");
    }
    if (!whole || !cursor.finish()) {
        return not_json(cursor.why());
    }
    if (!object) {
        return core::upstream_error(core::errc::invalid_request, "not an object");
    }
    // Sorted, not hashed: whoever chooses the names can have all hashes be the same.
    std::vector<std::string_view> names;
    names.reserve(read.members_.size());
    for (const auto& member : read.members_) {
        names.push_back(member.name);
    }
    std::ranges::sort(names);
    if (std::ranges::adjacent_find(names) != names.end()) {
        return core::upstream_error(core::errc::invalid_request, "a member stands twice");
    }
    return read;
}

std::string_view raw_object::find(std::string_view name) const noexcept
{
    const auto found = std::ranges::find(members_, name, &raw_member::name);
    return found == members_.end() ? std::string_view{} : found->value;
}

std::string raw_object::text(std::string_view name) const
{
    return text_of(find(name)).value_or(std::string{});
}

std::string_view raw_object::object(std::string_view name) const noexcept
{
    const auto raw = find(name);
    return is_object(raw) ? raw : std::string_view{};
}

raw_object members_of(std::string_view raw)
{
    auto read = raw_object::read(raw);
    return read ? std::move(*read) : raw_object{};
}

bool is_twin(std::string_view name, std::string_view other)
{
    std::string plain{name};
    std::erase(plain, '_');
    return name != other && core::equal_ignoring_case(plain, other);
}

bool is_object(std::string_view raw) noexcept
{
    return raw.starts_with('{');
}

bool is_array(std::string_view raw) noexcept
{
    return raw.starts_with('[');
}

bool is_string(std::string_view raw) noexcept
{
    return raw.starts_with('"');
}

bool opens_array(std::string_view text) noexcept
{
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '[';
}

std::optional<std::string> text_of(std::string_view raw)
{
    if (!is_string(raw) || raw.size() < 2) {
        return std::nullopt;
    }
    return core::unescape_json(raw.substr(1, raw.size() - 2));
}

std::string compact(std::string_view raw)
{
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        const char c = raw.front();
        if (c == '"') {
            append_string(out, raw);
            continue;
        }
        if (!core::is(c, core::byte_class::space)) {
            out += c;
        }
        raw.remove_prefix(1);
    }
    return out;
}

core::result<std::string> usable(std::string_view raw, unsigned depth)
{
    auto text = compact(raw);
    core::json_limits limits;
    limits.bytes = text.size();
    limits.depth = depth;
    if (auto read = core::check_json(text, limits); !read) {
        return read.error();
    }
    return text;
}

void append_member(std::string& out, std::string_view name, std::string_view raw_value)
{
    core::append_json_string(out, name);
    out.append(":").append(raw_value).append(",");
}

void append_text_member(std::string& out, std::string_view name, std::string_view text)
{
    core::append_json_string(out, name);
    out += ':';
    core::append_json_string(out, text);
    out += ',';
}

void close(std::string& out, char bracket)
{
    if (out.ends_with(',')) {
        out.pop_back();
    }
    out += bracket;
}

std::string answer_text(std::string_view id, std::string_view member, std::string_view raw)
{
    constexpr std::string_view begin = R"({"jsonrpc":"2.0",)";
    std::string out;
    out.reserve(begin.size() + id.size() + member.size() + raw.size() + 16);
    out += begin;
    append_member(out, "id", id);
    append_member(out, member, raw);
    close(out, '}');
    return out;
}

std::string empty_answer(std::string_view id)
{
    return answer_text(id, "result", "{}");
}

std::string error_answer(std::string_view id, std::int64_t code, std::string_view message)
{
    std::string failure{"{"};
    append_member(failure, "code", std::to_string(code));
    append_text_member(failure, "message", message);
    close(failure, '}');
    return answer_text(id, "error", failure);
}

}  // namespace mcp
