// Which tasks the body of an agent's answer shows, while it passes: task_text (a2a/dialect/task_text.hpp), and where in the body its
// texts are. Pure; one thread.
#pragma once

#include "a2a/dialect/task_text.hpp"

#include <cstdint>
#include <string_view>

namespace a2a {

// Whether a task_scan may find something in this whole document: a task, or, if they are asked for, the context of one or of a message.
// Most answers have no member that could be either, which is told by the ends of their names, without reading the rest.
bool may_show_task(std::string_view document, bool contexts);

class task_scan {
public:
    enum class framing : std::uint8_t { document, events };

    explicit task_scan(framing how, task_text::until end = task_text::until::task) noexcept
        : framing_{how},
          text_{end}
    {
    }

    // The next piece of the body. False: nothing that follows matters. Of a stream of events each event is a text of its own
    // (WHATWG HTML section 9.2.6).
    bool feed(std::string_view piece, task_sink& to);

private:
    enum class line : std::uint8_t { name, space, data, other };

    const char* read_name(const char* at);
    void end_line(char c) noexcept;
    void feed_events(std::string_view piece, task_sink& to);

    framing framing_;
    line line_ = line::name;
    std::uint8_t matched_ = 0;  // bytes of "data:" at the start of the line
    std::uint8_t marks_ = 0;    // bytes of the byte order mark that the stream may begin with
    bool after_return_ = false;
    task_text text_;
};

}  // namespace a2a
