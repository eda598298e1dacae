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

enum class byte_kind : std::uint8_t { other, opens, closes, quotes };

constexpr auto kinds = [] {
    std::array<byte_kind, 256> all{};
    all['{'] = all['['] = byte_kind::opens;
    all['}'] = all[']'] = byte_kind::closes;
    all['"'] = byte_kind::quotes;
    return all;
}();

// The quote that ends a text of which `text` from `at` on is a part; its size: it is not there. `escaped`: the byte before was a
// backslash that counts; then of the last byte. Most texts are short; memchr() is for long ones.
std::size_t find_quote(std::string_view text, std::size_t at, bool& escaped) noexcept
{
    constexpr std::size_t usual = 24;
    at += std::exchange(escaped, false) ? 1 : 0;
    for (const auto until = std::min(at + usual, text.size()); at < until; ++at) {
        if (text[at] == '"') {
            return at;
        }
        at += text[at] == '\\' ? 1 : 0;
    }
    for (;;) {
        if (at >= text.size()) {
            escaped = at > text.size();
            return text.size();
        }
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
        } else if (depth_ > (in_result_ ? 2U : 1U)) {
            at = skip_values(text, at);
        } else {
            take(text[at]);
            ++at;
        }
    }
}

// Returns the place behind the end of the text, or behind `text`.
std::size_t tool_scan::skip_string(std::string_view text, std::size_t at) noexcept
{
    const auto end = find_quote(text, at, escaped_);
    for (auto i = at; i < end && name_size_ < name_.size(); ++i) {
        name_[name_size_++] = text[i];
    }
    in_string_ = end == text.size();
    return in_string_ ? end : end + 1;
}

// Where no key counts: returns the place behind the end of the list or map in which one may, or of `text`.
std::size_t tool_scan::skip_values(std::string_view text, std::size_t at) noexcept
{
    const auto least = in_result_ ? 2U : 1U;
    for (; at < text.size(); ++at) {
        const auto kind = kinds[static_cast<unsigned char>(text[at])];
        if (kind == byte_kind::other) {
            continue;
        }
        if (kind == byte_kind::opens) {
            ++depth_;
        } else if (kind == byte_kind::closes) {
            close();
            if (depth_ <= least || done_) {
                return at + 1;
            }
        } else {
            name_size_ = name_.size();  // no key that counts
            at = find_quote(text, at + 1, escaped_);
            in_string_ = at == text.size();
        }
    }
    return text.size();
}

// A byte outside of texts.
void tool_scan::take(char c) noexcept
{
    switch (c) {
        case ' ':
        case '\t':
        case '\r':
        case '\n':
            return;
        case '"':
            in_string_ = true;
            // Elsewhere no text is a key that counts.
            name_size_ = depth_ == 1 || (depth_ == 2 && in_result_) ? 0 : name_.size();
            break;
        case ':':
            note_key();
            return;
        default:
            break;
    }
    if (key_ != key::other) {
        begin_value(c);
    }
    if (c == '{' || c == '[') {
        ++depth_;
    } else if (c == '}' || c == ']') {
        close();
    }
}

void tool_scan::note_key() noexcept
{
    const std::string_view name{name_.data(), name_size_};
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
