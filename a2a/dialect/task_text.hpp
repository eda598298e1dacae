// Which task one JSON text of an agent's answer shows, and in which state: found while its bytes pass, in pieces of any size, whatever
// its generation and binding (specification 0.3.0 section 7, 1.0.1 sections 9.4 and 11). Keeps nothing of the text but short names
// and ids, and looks no further once it knows. What is not JSON shows no task. Pure; one thread.
#pragma once

#include "a2a/dialect/enums.hpp"

#include <array>
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

// A Task, or an update of one, bare, in its wrapper, and in the result of JSON-RPC. Told at most once. A message
// shows no task, even if it names one; nor does a list of tasks.
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

}  // namespace a2a
