// The messages on a child's standard output: one per line (MCP, basic/transports, "stdio").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcp {

// Splits what is fed into lines; the same lines however the bytes are split. Holds one line and the last piece at most.
class line_reader {
public:
    static constexpr std::size_t default_limit = 8 * 1024 * 1024;

    struct line {
        std::string_view
            text;  // without the line end, LF or CRLF, and without a byte order mark; valid until the next call
        bool too_long = false;  // a line over the limit begins with `text`, and the rest of it is lost
    };

    // `limit` in bytes of a line without its end.
    explicit line_reader(std::size_t limit = default_limit) noexcept
        : limit_{limit}
    {
    }

    // The next bytes of the stream. To be called when next() has nothing left.
    void feed(std::string_view bytes);

    // The next line that is not empty. A line over the limit is reported once, when it is known to be over, and
    // dropped to its end.
    std::optional<line> next();

    // Bytes of a line that has not ended. At the end of the stream they are no message.
    std::size_t held() const noexcept { return buffer_.size() - begin_; }

private:
    bool over_limit(std::string_view line) const noexcept;
    void consume(std::size_t bytes) noexcept;

    std::size_t limit_;
    std::string buffer_;
    std::size_t begin_ = 0;    // of the line that comes next
    std::size_t scanned_ = 0;  // no LF between begin_ and here
    bool discarding_ = false;  // until the next LF
};

}  // namespace mcp
