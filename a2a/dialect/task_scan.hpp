// Finds the tasks in the body of an agent's answer while it passes: task_text (a2a/dialect/task_text.hpp) reads the texts that task_scan
// finds in the body. Pure; one thread.
#pragma once

#include "a2a/dialect/task_text.hpp"
#include "core/json/json_bytes.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace a2a {

// Calls `each` with the places of `byte` in `text`, from the front. True: `each` returned true for one of them.
template <class Each>
bool any_place(std::string_view text, char byte, Each each)
{
    std::size_t at = 0;
#if defined(__SSE2__)
    const auto wanted = _mm_set1_epi8(byte);
    for (; text.size() - at >= 16; at += 16) {
        const auto block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
        auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)));
        for (; found != 0; found &= found - 1) {
            if (each(at + static_cast<std::size_t>(std::countr_zero(found)))) {
                return true;
            }
        }
    }
#endif
    for (; at < text.size(); ++at) {
        if (text[at] == byte && each(at)) {
            return true;
        }
    }
    return false;
}

// Calls `each` with the place of the closing quote of each name of a member in a JSON text, without reading the rest of it. True: as
// any_place(). A quote and a colon within a text look like the end of a name too.
template <class Each>
bool any_name_end(std::string_view text, Each each)
{
    return any_place(text, ':', [&](std::size_t end) {
        while (end > 0 && core::is(text[end - 1], core::byte_class::space)) {
            --end;
        }
        return end > 0 && text[end - 1] == '"' && each(end - 1);
    });
}

// Whether a task_scan may find something in this whole document: a task, or, with `contexts`, the context of a task or message. Looks only
// at the ends of the names of members: most answers have no such member.
bool may_show_task(std::string_view document, bool contexts);

class task_scan {
public:
    enum class framing : std::uint8_t { document, events };

    explicit task_scan(framing how, task_text::until end = task_text::until::task) noexcept
        : framing_{how},
          text_{end}
    {
    }

    // Reads the next piece of the body. False: nothing that follows matters. In a stream of events each event is a text of its own
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
