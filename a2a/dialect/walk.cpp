#include "a2a/dialect/walk.hpp"

#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace a2a {
namespace {

constexpr std::size_t longest_name = 64;  // longer than any of ours, with an escape for each letter of most

// `message_id` is `messageId` to readers of ProtoJSON.
bool is_snake_of(std::string_view snake, std::string_view camel) noexcept
{
    std::size_t at = 0;
    for (const char c : camel) {
        if (c >= 'A' && c <= 'Z') {
            if (at + 1 >= snake.size() || snake[at] != '_' || snake[at + 1] != static_cast<char>(c | 0x20)) {
                return false;
            }
            at += 2;
        } else {
            if (at >= snake.size() || snake[at] != c) {
                return false;
            }
            ++at;
        }
    }
    return at == snake.size();
}

const member_row* find_row(std::string_view name, std::span<const member_row> rows, body_shape shape) noexcept
{
    const auto bit = static_cast<std::uint8_t>(shape);
    const bool snake = shape != body_shape::types && name.find('_') != std::string_view::npos;
    for (const auto& row : rows) {
        if ((row.shapes & bit) != 0 && (row.name == name || (snake && is_snake_of(name, row.name)))) {
            return &row;
        }
    }
    return nullptr;
}

const member_row* find_row(std::string_view name, bool escaped, std::span<const member_row> rows, body_shape shape)
{
    if (!escaped) {
        return find_row(name, rows, shape);
    }
    return name.size() > 6 * longest_name ? nullptr : find_row(core::unescape_json(name), rows, shape);
}

}  // namespace

void throw_exception_from_error(const refusal& e, const boost::source_location& /*where*/)
{
    throw std::logic_error{"a translation that failed was used: " + e.member + ": " + std::string{e.why}};
}

bool walk::read(std::string_view raw, std::span<const member_row> rows, std::span<std::string_view> values)
{
    if (!is_object(raw)) {
        return fail("must be an object");
    }
    const member_row* twice = nullptr;
    trusted_cursor cursor{raw, trusted_cursor::deepest};
    const bool whole = cursor.object([&](std::string_view name, bool escaped, std::string_view value) {
        const auto* const row = find_row(name, escaped, rows, from);
        if (row == nullptr) {
            ++lost;
            return true;
        }
        if (row->index == member_row::ignored || (value == "null" && !row->null_counts)) {
            return true;
        }
        auto& slot = values[row->index];
        if (!slot.empty()) {
            twice = row;
            return false;
        }
        slot = value;
        return true;
    });
    return whole || (twice != nullptr ? fail(twice->name, "is given twice") : fail("must be an object"));
}

bool walk::fail(std::string_view member, std::string_view why)
{
    if (failed_) {
        return false;
    }
    failed_ = true;
    failure_.code = from_agent() ? rpc_code::invalid_agent_response : rpc_code::invalid_params;
    failure_.why = why;
    auto& path = failure_.member;
    const auto append = [&path](std::string_view name) {
        if (!path.empty() && !name.empty()) {
            path += '.';
        }
        path += name;
    };
    for (std::size_t i = 0; i < std::min(depth_, places_.size()); ++i) {
        append(places_[i].name);
        if (places_[i].position != no_position) {
            path.append("[").append(std::to_string(places_[i].position)).append("]");
        }
    }
    append(member);
    return false;
}

bool walk::fail_with(int code, std::string_view why)
{
    if (!failed_) {
        fail(why);
        failure_.code = code;
    }
    return false;
}

bool is_empty_array(std::string_view raw) noexcept
{
    array_walker at{raw};
    std::string_view element;
    return is_array(raw) && !at.next(element);
}

bool says(std::string_view raw, std::string_view text)
{
    if (!is_string(raw)) {
        return false;
    }
    const auto inside = unquoted(raw);
    if (inside == text) {
        return text.find('\\') == std::string_view::npos;
    }
    return inside.size() > text.size() && inside.size() <= 6 * text.size() &&
           inside.find('\\') != std::string_view::npos && core::unescape_json(inside) == text;
}

std::string_view text_of(std::string_view raw, std::string& room)
{
    const auto inside = unquoted(raw);
    if (inside.find('\\') == std::string_view::npos) {
        return inside;
    }
    room = core::unescape_json(inside);
    return room;
}

array_walker::array_walker(std::string_view raw) noexcept
    : rest{raw.substr(raw.empty() ? 0 : 1)}
{
}

bool array_walker::next(std::string_view& element) noexcept
{
    trusted_cursor cursor{rest, trusted_cursor::deepest};
    cursor.skip_space();
    cursor.take(',');
    if (cursor.peek() == ']' || cursor.peek() == '\0') {
        return false;
    }
    const char* const begin = cursor.position();
    if (!cursor.value()) {
        return false;
    }
    element = {begin, static_cast<std::size_t>(cursor.position() - begin)};
    rest.remove_prefix(static_cast<std::size_t>(cursor.position() - rest.data()));
    return true;
}

bool check_string(walk& w, std::string_view name, std::string_view raw)
{
    return raw.empty() || is_string(raw) || w.fail(name, "must be a string");
}

bool check_object(walk& w, std::string_view name, std::string_view raw)
{
    return raw.empty() || is_object(raw) || w.fail(name, "must be an object");
}

bool check_boolean(walk& w, std::string_view name, std::string_view raw)
{
    return raw.empty() || raw == "true" || raw == "false" || w.fail(name, "must be true or false");
}

bool check_array(walk& w, std::string_view name, std::string_view raw)
{
    return raw.empty() || is_array(raw) || w.fail(name, "must be an array");
}

bool check_integer(walk& w, std::string_view name, std::string_view raw, std::string_view& digits)
{
    digits = is_string(raw) ? unquoted(raw) : raw;
    if (raw.empty()) {
        return true;
    }
    const auto* const begin = digits.data();
    const auto* const end = begin + digits.size();
    const auto* const first = !digits.empty() && digits.front() == '-' ? begin + 1 : begin;
    const bool whole = first != end && core::number_end(begin, end) == end && core::skip_digits(first, end) == end;
    return whole || w.fail(name, "must be a whole number");
}

bool check_strings(walk& w, std::string_view name, std::string_view& raw)
{
    if (raw.empty()) {
        return true;
    }
    bool any = false;
    const bool good = w.elements(name, raw, [&w, &any](std::string_view element) {
        any = true;
        return is_string(element) || w.fail("must be a string");
    });
    if (!any) {
        raw = {};
    }
    return good;
}

bool check_filled_string(walk& w, std::string_view name, std::string_view& raw)
{
    if (raw == "\"\"") {
        raw = {};
    }
    return check_string(w, name, raw);
}

}  // namespace a2a
