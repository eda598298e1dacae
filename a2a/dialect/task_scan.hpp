// Finds the tasks in the body of an agent's answer while it passes: task_scan finds the JSON texts in the body, and task_text reads them.
// Pure; one thread.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "core/json/json_bytes.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace a2a {

class task_sink {
public:
    // `id` is unescaped and holds until this returns. No state: the task got an artifact.
    virtual void on_task(std::string_view id, std::optional<task_state> state) = 0;

    // The context of a task, an update or a message; after the state only if the reader goes on for it. `id` as in on_task().
    virtual void on_context(std::string_view id) { static_cast<void>(id); }

    // The text is no error: it has a result, or the wrapper of a task, an update or a message. Before the others.
    virtual void on_result() {}

protected:
    ~task_sink() = default;
};

// Reports which task one JSON text shows, and in which state: a Task, or an update of one, bare, in its wrapper, or in the result of
// JSON-RPC, whatever its generation and binding (specification 0.3.0 section 7, 1.0.1 sections 9.4 and 11). At most once. A message
// shows no task, even if it names one; nor does a list of tasks, nor text that is not JSON. Reads pieces of any size, keeps nothing of
// them but short names and ids, and looks no further once it knows.
class task_text {
public:
    // Where to end: when the task is known, or when its context is known too.
    enum class until : std::uint8_t { task, context };

    explicit task_text(until end) noexcept
        : until_{end}
    {
    }

    static constexpr std::size_t longest_id = 256;      // bytes as they stand in the text; a longer one is not told
    static constexpr std::size_t longest_context = 96;  // the same of a context's id

    // The next piece of the text.
    void feed(std::string_view piece, task_sink& to);

    // Another text begins.
    void restart() noexcept;

    // The rest of the text does not matter.
    bool done() const noexcept { return mode_ == mode::done; }

private:
    // The element that the next byte belongs to.
    enum class mode : std::uint8_t {
        value,         // a value, which `wants_` waits for
        name,          // a member, or the end of an object that is looked into
        colon,         // behind a name
        name_text,     // within a name
        id_text,       // within the text of an id
        state_text,    // within the text of a state
        context_text,  // within the text of a context's id
        other_text,    // within a text that says nothing
        bare,          // within a number or a word
        nested,        // within a container that says nothing
        nested_text,   // within a text in that
        done,
    };
    // The objects that are looked into.
    enum class object : std::uint8_t { none, outer, result, task, status };
    enum class want : std::uint8_t {
        nothing,
        document,
        result,
        wrapped,
        id,
        task_id,
        status,
        state,
        context,
        artifact
    };

    const char* read_text(const char* at, const char* end, task_sink& to);
    const char* skip_text(const char* at, const char* end);
    const char* skip_nested(const char* at, const char* end);
    const char* read_bare(const char* at, const char* end, task_sink& to);
    void read_one(char c, task_sink& to);
    void begin_value(char c, task_sink& to);
    void begin_text();
    void end_text(task_sink& to);
    void enter(object what) noexcept;
    void leave(task_sink& to);
    void end_state(task_sink& to);
    void tell(task_sink& to);
    want wanted_at(std::string_view name) const noexcept;
    void keep(std::string_view piece) noexcept;

    mode mode_ = mode::value;
    want wants_ = want::document;
    object in_ = object::none;
    object around_status_ = object::none;
    task_state state_ = task_state::unspecified;
    bool after_backslash_ = false;
    bool has_escape_ = false;   // the text that is being read
    bool too_long_ = false;     // the same
    bool has_task_id_ = false;  // id_ is a `taskId`
    bool has_status_ = false;
    bool has_artifact_ = false;
    bool has_context_ = false;
    bool told_ = false;  // the task
    until until_;
    std::uint16_t id_size_ = 0;  // 0: none is known
    std::uint16_t word_size_ = 0;
    std::uint64_t depth_ = 0;  // of containers in the one that says nothing
    // A name: 14 letters at most, each of which an escape makes six bytes; or a state, or the id of a context.
    std::array<char, longest_context> word_{};
    std::array<char, longest_id> id_{};
};

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
