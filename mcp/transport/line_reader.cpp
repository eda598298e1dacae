#include "mcp/transport/line_reader.hpp"

#include <algorithm>

namespace mcp {
namespace {

// Readers may ignore it (RFC 8259, 8.1), and programs begin with it that write as .NET does.
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace

void line_reader::feed(std::string_view bytes)
{
    if (begin_ == buffer_.size()) {
        // One long line must not cost its memory for as long as the child lives.
        constexpr std::size_t kept = 64 * 1024;
        if (buffer_.capacity() > kept) {
            std::string{}.swap(buffer_);
        }
        buffer_.clear();
    } else {
        buffer_.erase(0, begin_);
    }
    scanned_ -= std::min(scanned_, begin_);
    begin_ = 0;
    scanned_ = std::min(scanned_, buffer_.size());
    if (discarding_) {
        const auto end = bytes.find('\n');
        if (end == std::string_view::npos) {
            return;
        }
        discarding_ = false;
        bytes.remove_prefix(end + 1);
    }
    buffer_ += bytes;
}

std::optional<line_reader::line> line_reader::next()
{
    for (;;) {
        const auto end = buffer_.find('\n', scanned_);
        const bool whole = end != std::string::npos;
        auto text = std::string_view{buffer_}.substr(begin_, whole ? end - begin_ : std::string::npos);
        const auto length = text.size();
        if (over_limit(text)) {
            discarding_ = !whole;
            consume(whole ? length + 1 : length);
            return line{text, true};
        }
        if (!whole) {
            scanned_ = buffer_.size();
            return std::nullopt;
        }
        consume(length + 1);
        if (text.ends_with('\r')) {
            text.remove_suffix(1);
        }
        if (text.starts_with(byte_order_mark)) {
            text.remove_prefix(byte_order_mark.size());
        }
        if (!text.empty()) {
            return line{text, false};
        }
    }
}

// A CR that an LF may follow is not of the line.
bool line_reader::over_limit(std::string_view line) const noexcept
{
    return line.size() > limit_ && !(line.size() == limit_ + 1 && line.back() == '\r');
}

void line_reader::consume(std::size_t bytes) noexcept
{
    begin_ += bytes;
    scanned_ = begin_;
}

}  // namespace mcp
