#include "net/sse/sse.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace net {

// Both are looked for together: a stream may have many of one, and the other nowhere.
std::size_t find_line_end(std::string_view bytes, std::size_t at) noexcept
{
    constexpr std::size_t block = 64;
    const auto ends = [](char c) { return static_cast<unsigned>(c == '\n') | static_cast<unsigned>(c == '\r'); };
    for (; bytes.size() - at >= block; at += block) {
        unsigned found = 0;
        for (const char c : bytes.substr(at, block)) {
            found |= ends(c);
        }
        if (found != 0) {
            break;
        }
    }
    while (at < bytes.size() && ends(bytes[at]) == 0) {
        ++at;
    }
    return at;
}

void sse_scanner::begin_event() noexcept
{
    event_bytes_ = 0;
    line_ = line_state::start;
    bom_ = bom_state::over;
    fields_ = false;
    after_cr_ = false;
    lone_cr_ = false;
}

bool sse_scanner::scan(std::string_view bytes) noexcept
{
    std::size_t at = bom_ == bom_state::over ? 0 : take_bom(bytes);
    while (at < bytes.size()) {
        const auto from = at;
        if (std::exchange(after_cr_, false)) {
            lone_cr_ = bytes[at] != '\n';
            if (!lone_cr_) {
                ++at;
                event_bytes_ += event_bytes_ > 0 ? 1 : 0;
                continue;
            }
        }
        if (line_ == line_state::start) {
            at = begin_line(bytes, at);
        } else {
            at = find_line_end(bytes, at);
        }
        event_bytes_ += at - from;
        if (at < bytes.size() && (bytes[at] == '\n' || bytes[at] == '\r')) {
            ++event_bytes_;
            if (!within_limit(at + 1)) {
                return false;
            }
            end_line(bytes[at]);
            ++at;
        }
    }
    return within_limit(bytes.size());
}

bool sse_scanner::within_limit(std::size_t scanned) noexcept
{
    const bool within = event_bytes_ <= limit_;
    ahead_ = within ? 0 : scanned - static_cast<std::size_t>(std::min<std::uint64_t>(scanned, event_bytes_));
    return within;
}

// Gives where the line, or what there is of it, ends.
std::size_t sse_scanner::begin_line(std::string_view bytes, std::size_t at) noexcept
{
    const char first = bytes[at];
    if (first == '\n' || first == '\r') {
        return at;
    }
    line_ = first == ':' ? line_state::comment : line_state::field;
    fields_ = fields_ || line_ == line_state::field;
    return find_line_end(bytes, at);
}

void sse_scanner::end_line(char line_end) noexcept
{
    const bool was_empty = line_ == line_state::start;
    line_ = line_state::start;
    after_cr_ = line_end == '\r';
    lone_cr_ = lone_cr_ && after_cr_;
    fields_ = fields_ && !was_empty;
    if (!fields_) {
        event_bytes_ = 0;
    }
}

// The mark, or as much of it as `bytes` has; what only began like one is the beginning of a field's name.
std::size_t sse_scanner::take_bom(std::string_view bytes) noexcept
{
    auto matched = static_cast<std::size_t>(bom_);
    std::size_t at = 0;
    while (at < bytes.size() && matched < byte_order_mark.size() && bytes[at] == byte_order_mark[matched]) {
        ++matched;
        ++at;
    }
    const bool undecided = at == bytes.size() && matched < byte_order_mark.size();
    bom_ = undecided ? static_cast<bom_state>(matched) : bom_state::over;
    if (matched == byte_order_mark.size()) {
        line_ = line_state::start;
        fields_ = false;
        event_bytes_ = 0;
    } else if (matched > 0) {
        line_ = line_state::field;
        fields_ = true;
        event_bytes_ = matched;
    }
    return at;
}

late_bom::outcome late_bom::take(std::string_view piece) noexcept
{
    if (over_) {
        return {{}, piece};
    }
    const auto before = matched_;
    std::size_t at = 0;
    while (at < piece.size() && matched_ < byte_order_mark.size() && piece[at] == byte_order_mark[matched_]) {
        ++matched_;
        ++at;
    }
    if (matched_ == byte_order_mark.size()) {
        over_ = true;
        return {{}, piece.substr(at)};
    }
    if (at == piece.size()) {
        return {};
    }
    over_ = true;
    return {byte_order_mark.substr(0, before), piece};
}

}  // namespace net
