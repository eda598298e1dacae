// The events of a stream (WHATWG HTML section 9.2.5), one by one and as text, for streams whose events have to be read. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace net {

// Cuts a stream behind every empty line, and behind a byte order mark in front of it. What comes out is what went in.
// Split-invariant. Where lines end with CRLF, the LF of an empty line is a piece of its own: the CR may be all there is.
class sse_splitter {
public:
    // `limit`: bytes of one event with its comments and the line that ends it.
    explicit sse_splitter(std::uint64_t limit) noexcept
        : limit_{limit}
    {
    }

    void feed(std::string_view bytes);

    // The next event, or comments and nothing else. Nothing: more has to be fed, or it is too_large().
    std::optional<std::string> next();
    bool too_large() const noexcept { return too_large_; }

    // Bytes that were fed and not given.
    std::size_t held() const noexcept { return buffer_.size() - begin_; }

    // At the end of the stream, when next() gives nothing more: what was not ended by an empty line. Nothing: all was.
    std::optional<std::string> take_rest();

private:
    enum class start_state : std::uint8_t { undecided, marked, over };

    std::string buffer_;
    std::size_t begin_ = 0;  // of the event under way
    std::size_t at_ = 0;     // bytes that were looked at
    std::uint64_t limit_;
    start_state start_ = start_state::undecided;
    bool after_cr_ = false;
    bool line_empty_ = true;
    bool too_large_ = false;
};

struct sse_line {
    std::string_view whole;  // with what ends it
    std::string_view name;   // of the field; empty: a comment or an empty line
    std::string_view value;
};

// Takes a line from the front of `rest`, which is not empty.
sse_line take_sse_line(std::string_view& rest);

// What the event says: its `data` lines, joined with LF, a last line that is not ended included. Nothing: it has none.
std::optional<std::string> sse_data(std::string_view event);

// The event with other data instead of its own, which is JSON, on one line: two SDKs read no more than that. All other lines stay.
std::string with_sse_data(std::string_view event, std::string_view data);

}  // namespace net
