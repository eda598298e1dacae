#include "mcp/calls/tool_scan.hpp"

#include "net/sse/sse.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view data_field = "data:";
constexpr std::string_view spaces = " \t\r\n";

enum class byte_kind : std::uint8_t { other, space, opens, closes, colon, quotes };

constexpr auto kinds = [] {
    std::array<byte_kind, 256> all{};
    all[' '] = all['\t'] = all['\r'] = all['\n'] = byte_kind::space;
    all['{'] = all['['] = byte_kind::opens;
    all['}'] = all[']'] = byte_kind::closes;
    all[':'] = byte_kind::colon;
    all['"'] = byte_kind::quotes;
    return all;
}();

byte_kind kind_of(char c) noexcept
{
    return kinds[static_cast<unsigned char>(c)];
}

// The quote that ends a text of which `text` from `at` on is a part; its size: it is not there. `escaped`: the byte before was a
// backslash that counts; then of the last byte.
std::size_t find_quote(std::string_view text, std::size_t at, bool& escaped) noexcept
{
    at += std::exchange(escaped, false) ? 1 : 0;
    while (at < text.size()) {
        const auto* const quote = static_cast<const char*>(std::memchr(text.data() + at, '"', text.size() - at));
        const auto end = quote == nullptr ? text.size() : static_cast<std::size_t>(quote - text.data());
        auto slashes = end;
        while (slashes > at && text[slashes - 1] == '\\') {
            --slashes;
        }
        const bool escapes = (end - slashes) % 2 == 1;
        if (quote == nullptr || !escapes) {
            escaped = quote == nullptr && escapes;
            return end;
        }
        at = end + 1;
    }
    return text.size();
}

}  // namespace

bool tool_scan::feed(std::string_view piece) noexcept
{
    if (form_ == form::unknown) {
        const auto begin = piece.find_first_not_of(spaces);
        if (begin == std::string_view::npos) {
            return true;
        }
        piece.remove_prefix(begin);
        form_ = piece.front() == '{' ? form::document : form::events;
        done_ = piece.front() == '[';  // a batch
    }
    if (!done_) {
        form_ == form::document ? feed_document(piece) : feed_events(piece);
    }
    return !done_;
}

// Each event is a document of its own; line ends within its data stand between values.
void tool_scan::feed_events(std::string_view piece) noexcept
{
    for (std::size_t at = 0; at < piece.size() && !done_;) {
        if (std::exchange(after_cr_, false) && piece[at] == '\n') {
            ++at;
            continue;
        }
        const auto begin = at;
        const bool untouched = line_ == line::begins && matched_ == 0;
        while (line_ == line::begins && at < piece.size() && matched_ < data_field.size() &&
               piece[at] == data_field[matched_]) {
            ++at;
            ++matched_;
        }
        if (at == piece.size()) {
            return;
        }
        if (line_ == line::begins) {
            line_ = matched_ == data_field.size() ? line::data : line::other;
        }
        const auto end = net::find_line_end(piece, at);
        if (line_ == line::data) {
            feed_document(piece.substr(at, end - at));
        } else if (untouched && end == begin) {
            begin_document();
        }
        if (end == piece.size()) {
            return;
        }
        after_cr_ = piece[end] == '\r';
        at = end + 1;
        line_ = line::begins;
        matched_ = 0;
    }
}

void tool_scan::feed_document(std::string_view text) noexcept
{
    for (std::size_t at = 0; at < text.size() && !done_;) {
        if (in_string_) {
            at = skip_string(text, at);
        } else if (depth_ > deepest_with_keys()) {
            at = skip_values(text, at);
        } else {
            at = read_members(text, at);
        }
    }
}

// Returns the place behind the end of a text that has come in pieces, or behind this one.
std::size_t tool_scan::skip_string(std::string_view text, std::size_t at) noexcept
{
    const auto end = find_quote(text, at, escaped_);
    keep_name(text.substr(at, end - at));
    in_string_ = end == text.size();
    return in_string_ ? end : end + 1;
}

// Appends to the name that may be a key's, as far as it matters.
void tool_scan::keep_name(std::string_view part) noexcept
{
    for (std::size_t i = 0; i < part.size() && name_size_ < name_.size(); ++i) {
        name_[name_size_++] = part[i];
    }
}

// Where keys count: returns the place behind what is done, at which a text is cut, no key counts any more, or nothing matters.
std::size_t tool_scan::read_members(std::string_view text, std::size_t at) noexcept
{
    std::string_view name{name_.data(), name_size_};
    while (at < text.size()) {
        const char c = text[at++];
        const auto kind = kind_of(c);
        if (kind == byte_kind::space) {
            continue;
        }
        if (kind == byte_kind::colon) {
            note_key(name);
            continue;
        }
        if (key_ != key::other) {
            begin_value(c);
        }
        if (kind == byte_kind::quotes) {
            const auto end = find_quote(text, at, escaped_);
            name = text.substr(at, end - at);
            in_string_ = end == text.size();
            at = in_string_ ? end : end + 1;
        } else if (kind == byte_kind::opens) {
            ++depth_;
        } else if (kind == byte_kind::closes) {
            close();
        }
        if (done_ || depth_ > deepest_with_keys()) {
            break;
        }
    }
    if (name.data() != name_.data()) {
        name_size_ = 0;
        keep_name(name);
    }
    return at;
}

// Where no key counts: returns the place behind the end of the list or map in which one may, or of `text`.
std::size_t tool_scan::skip_values(std::string_view text, std::size_t at) noexcept
{
    for (; at < text.size(); ++at) {
        const auto kind = kind_of(text[at]);
        if (kind == byte_kind::opens) {
            ++depth_;
        } else if (kind == byte_kind::closes) {
            close();
            if (depth_ <= deepest_with_keys() || done_) {
                return at + 1;
            }
        } else if (kind == byte_kind::quotes) {
            name_size_ = name_.size();  // no key that counts
            at = find_quote(text, at + 1, escaped_);
            in_string_ = at == text.size();
        }
    }
    return text.size();
}

void tool_scan::note_key(std::string_view name) noexcept
{
    if (depth_ == 1) {
        key_ = name == "result" ? key::result : name == "error" ? key::error : key::other;
    } else if (depth_ == 2 && in_result_ && name == "isError") {
        key_ = key::is_error;
    }
}

void tool_scan::begin_value(char c) noexcept
{
    const auto of = std::exchange(key_, key::other);
    in_result_ = in_result_ || (of == key::result && c == '{');
    failed_ = failed_ || (of == key::error && c == '{');
    tool_error_ = tool_error_ || (of == key::is_error && c == 't');
    done_ = failed_ || tool_error_;
}

void tool_scan::close() noexcept
{
    depth_ -= depth_ > 0 ? 1 : 0;
    // The result is the answer: nothing behind it counts. A document ends with its map.
    done_ = (depth_ == 1 && in_result_) || (depth_ == 0 && form_ == form::document);
}

void tool_scan::begin_document() noexcept
{
    depth_ = 0;
    key_ = key::other;
    in_string_ = false;
    escaped_ = false;
    in_result_ = false;
}

}  // namespace mcp
