// Where a stream of server-sent events stands (WHATWG HTML section 9.2.5, "Parsing an event stream"), without reading
// the events: which bytes end one, and how large the one under way is. Pure, incremental, split-invariant, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace net {

// A comment and an empty line: nothing is dispatched for it.
inline constexpr std::string_view sse_keep_alive = ": keep-alive\n\n";
inline constexpr std::string_view sse_draining = ": draining\n\n";  // the gateway is about to end

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// The first CR or LF at or behind `at`; the end if there is none. In the time of what lies between.
std::size_t find_line_end(std::string_view bytes, std::size_t at = 0) noexcept;

class sse_scanner {
public:
    // `limit` in bytes, 3 or more: of one event with its comments, line ends and the empty line that ends it (but for the LF of a
    // CRLF that does).
    explicit sse_scanner(std::uint64_t limit) noexcept
        : limit_{limit}
    {
    }

    // The next bytes of the stream. False: an event is larger than the limit; feed nothing more, and of these bytes only
    // the first ahead_of_refused() belong to what came before it.
    // A piece that ends with an event, as most do, costs a look at its end.
    bool feed(std::string_view bytes) noexcept
    {
        if ((bytes.ends_with("\n\n") || bytes.ends_with("\n\r\n")) && bytes.size() <= limit_ - event_bytes_) {
            begin_event();
            return true;
        }
        return bytes.empty() || scan(bytes);
    }

    // Nothing of an event has come yet that is not over: a comment may go in here. Not between the CR and the LF of one
    // line end: a CR at the end of what was fed is a whole line end only if the line end before it was a lone CR.
    bool at_boundary() const noexcept { return event_bytes_ == 0 && (!after_cr_ || lone_cr_); }

    // Not a byte has come at all: a byte order mark may still follow, which must be the first thing in a stream.
    bool untouched() const noexcept { return bom_ == bom_state::none; }

    // The bytes of the event under way; finished comments in front of its first field do not count.
    std::uint64_t event_bytes() const noexcept { return event_bytes_; }

    std::size_t ahead_of_refused() const noexcept { return ahead_; }

private:
    enum class line_state : std::uint8_t { start, comment, field };
    enum class bom_state : std::uint8_t { none, one, two, over };  // how much of a byte order mark has come

    bool scan(std::string_view bytes) noexcept;
    bool within_limit(std::size_t scanned) noexcept;
    std::size_t begin_line(std::string_view bytes, std::size_t at) noexcept;
    std::size_t take_bom(std::string_view bytes) noexcept;
    void end_line(char line_end) noexcept;
    void begin_event() noexcept;

    std::uint64_t limit_;
    std::uint64_t event_bytes_ = 0;
    std::size_t ahead_ = 0;
    line_state line_ = line_state::start;
    bom_state bom_ = bom_state::none;
    bool fields_ = false;    // the event under way has a field, whole or begun
    bool after_cr_ = false;  // the last byte was a CR that ended a line
    bool lone_cr_ = false;   // the line end before that was a CR without LF
};

// Takes the byte order mark out of a stream in front of which something was put already; the rest stays as it is.
class late_bom {
public:
    struct outcome {
        std::string_view held;  // bytes of earlier pieces that were no mark after all
        std::string_view rest;  // of this piece
    };
    outcome take(std::string_view piece) noexcept;

private:
    std::size_t matched_ = 0;
    bool over_ = false;
};

}  // namespace net
