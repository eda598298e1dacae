// Cuts a stream into events as text (WHATWG HTML section 9.2.5), and interprets them (section 9.2.6). Pure.
#pragma once

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace net {

// Cuts a stream after every empty line, and after a byte order mark in front of it. The pieces together are what was fed.
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

    // Bytes that were fed and are not in a piece yet.
    std::size_t held() const noexcept { return buffer_.size() - begin_; }

    // At the end of the stream, when next() gives nothing more: the bytes after the last empty line, if there are any.
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

// The event's data: its `data` lines, joined with LF, a last line that is not ended included. Nothing: it has none.
std::optional<std::string> sse_data(std::string_view event);

// The same within the event's own bytes, which may be megabytes.
std::optional<std::string> take_sse_data(std::string event);

// The event with other data instead of its own, which is JSON, on one line: two SDKs read no more than that. All other lines stay.
std::string with_sse_data(std::string_view event, std::string_view data);

// The event with another id instead of its own, which `id_of` is given; all other lines stay, and so does the id if that gives nothing.
std::string
with_sse_id(std::string_view event, const std::function<std::optional<std::string>(std::string_view id)>& id_of);

struct sse_event {
    std::string type;  // empty: message
    std::string data;  // not empty
};

// Interprets the events of one stream after the other. Split-invariant; the data are the event's own bytes, moved, since an event may
// have megabytes. An event that no empty line ends is dropped.
class sse_reader {
public:
    // Bytes of an event's lines beside the message.
    static constexpr std::size_t extra = 64 * 1024;

    // `max_message` in bytes.
    explicit sse_reader(std::size_t max_message) noexcept
        : limit_{max_message + extra},
          splitter_{limit_}
    {
    }

    // A new stream begins; the previous id and delay stand.
    void begin() { splitter_ = sse_splitter{limit_}; }
    void feed(std::string_view bytes) { splitter_.feed(bytes); }

    // The next event that has data. Nothing: more has to be fed, or it is too_large().
    std::optional<sse_event> next();
    bool too_large() const noexcept { return splitter_.too_large(); }

    // The latest id that can be sent in a field. Empty: none.
    const std::string& last_id() const noexcept { return last_id_; }
    std::optional<core::duration> retry() const noexcept { return retry_; }

private:
    sse_event read(std::string piece);

    std::size_t limit_;
    sse_splitter splitter_;
    std::string last_id_;
    std::optional<core::duration> retry_;
};

}  // namespace net
