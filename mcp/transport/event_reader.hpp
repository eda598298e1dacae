// The events of a stream of a server (WHATWG HTML section 9.2.6, "Interpreting an event stream"), read as they come: one of megabytes
// is there, without a copy, when its last byte is. Pure; one thread at a time.
#pragma once

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcp {

struct stream_event {
    std::string type;  // empty: message
    std::string data;
};

// The events of one stream after the other. Split-invariant; what is not ended by an empty line is no event.
class event_reader {
public:
    // Bytes of an event's lines beside the message.
    static constexpr std::size_t extra = 64 * 1024;

    // `max_message` in bytes.
    explicit event_reader(std::size_t max_message)
        : limit_{max_message + extra}
    {
    }

    // A new stream begins; the previous id and delay stand.
    void begin();
    void feed(std::string_view bytes);

    // The next one that has data. Nothing: more has to be fed, or it is too_large().
    std::optional<stream_event> next();
    bool too_large() const noexcept { return size_ > limit_; }

    // The latest id that can be sent in a field. Empty: none.
    const std::string& last_id() const noexcept { return last_id_; }
    std::optional<core::duration> retry() const noexcept { return retry_; }

private:
    // What the line under way is, as far as it has come.
    enum class line_kind : std::uint8_t { unknown, comment, data, other };

    void take(std::string_view part);
    void tell_kind();
    void end_line();
    bool end_event();

    std::size_t limit_;
    std::string fed_;
    std::size_t at_ = 0;     // bytes of that which were read
    std::size_t size_ = 0;   // bytes of the event under way
    bool after_cr_ = false;  // its LF may follow
    bool begins_ = true;     // the stream does: a byte order mark may follow
    line_kind kind_ = line_kind::unknown;
    std::string line_;       // under way; of one of data nothing that is in data_
    bool has_data_ = false;  // of the event under way
    std::string data_;
    std::string type_;
    std::optional<std::string> id_;
    std::optional<core::duration> asked_retry_;
    std::string last_id_;
    std::optional<core::duration> retry_;
};

}  // namespace mcp
