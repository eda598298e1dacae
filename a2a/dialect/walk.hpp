// One translation under way: which shapes, where in the text, what was lost, why it failed. Every reader and writer of
// a2a/dialect/ takes one. Internal to a2a/dialect/.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/json_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace a2a {

// What is translated has been checked before.
using trusted_cursor = core::json_cursor<core::trusted_bytes>;

// How bodies are written.
enum class body_shape : std::uint8_t {
    types = 1,  // 0.3 JSON-RPC
    proto = 2,  // 0.3 HTTP+JSON and gRPC
    v1 = 4,
};

constexpr body_shape shape_of(dialect d) noexcept
{
    if (d.version == generation::v1) {
        return body_shape::v1;
    }
    return d.over == binding::jsonrpc ? body_shape::types : body_shape::proto;
}

// The author of the translated text, which decides the code of a refusal.
enum class origin_side : std::uint8_t { caller, agent };

// A member that an object may have. Two rows with one index are two spellings of it.
struct member_row {
    static constexpr std::uint8_t in_types = 1;
    static constexpr std::uint8_t in_proto = 2;
    static constexpr std::uint8_t in_v1 = 4;
    static constexpr std::uint8_t in_v03 = in_types | in_proto;
    static constexpr std::uint8_t in_all = in_v03 | in_v1;
    static constexpr std::uint8_t ignored =
        255;  // as an index: says nothing that the form does not say, such as `final`

    std::string_view name;
    std::uint8_t index = ignored;
    std::uint8_t shapes = in_all;
    bool null_counts = false;  // null is a value; else a member that is null is absent
};

// The type of a raw value.
inline bool is_string(std::string_view raw) noexcept
{
    return raw.starts_with('"');
}

inline bool is_object(std::string_view raw) noexcept
{
    return raw.starts_with('{');
}

inline bool is_array(std::string_view raw) noexcept
{
    return raw.starts_with('[');
}

// An array without elements.
bool is_empty_array(std::string_view raw) noexcept;

// The bytes between the quotes, escapes as they are.
inline std::string_view unquoted(std::string_view raw) noexcept
{
    return raw.size() >= 2 ? raw.substr(1, raw.size() - 2) : std::string_view{};
}

// Whether a raw JSON string says `text`, in any spelling. Allocates only for a string with escapes.
bool says(std::string_view raw, std::string_view text);

// The decoded text of a raw string. `room` holds it if it has escapes; else it is a view of `raw`.
std::string_view text_of(std::string_view raw, std::string& room);

// Steps from element to element of an array. `at_end` after the last one.
struct array_walker {
    explicit array_walker(std::string_view raw) noexcept;

    // Nothing more: false. The text must be JSON.
    bool next(std::string_view& element) noexcept;

    std::string_view rest;  // behind the last element
};

class walk {
public:
    walk(body_shape source, body_shape target, origin_side side, std::string& buffer) noexcept
        : from{source},
          to{target},
          out{buffer},
          side_{side}
    {
    }

    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;

    const body_shape from;
    const body_shape to;
    std::string& out;
    std::size_t lost = 0;          // members dropped
    bool without_history = false;  // tasks are written without theirs

    bool same_shape() const noexcept { return from == to; }
    bool from_agent() const noexcept { return side_ == origin_side::agent; }

    // Counts a member that is dropped if there is one.
    void lose(std::string_view raw) noexcept { lost += raw.empty() ? 0 : 1; }

    // The members of the object `raw` that `rows` names, as raw text in `values` by their index; empty: absent. Members
    // of other names are counted as lost. False: not an object, or a member that stands twice.
    bool read(std::string_view raw, std::span<const member_row> rows, std::span<std::string_view> values);

    // Calls `each(raw element)` for the elements of the array `raw`, with the path in `name[i]`. False: not an array,
    // or `each` returned false.
    template <class Each>
    bool elements(std::string_view name, std::string_view raw, Each&& each)
    {
        if (!is_array(raw)) {
            return fail(name, "must be an array");
        }
        array_walker at{raw};
        std::string_view element;
        for (std::size_t i = 0; at.next(element); ++i) {
            enter({name, i});
            const bool good = each(element);
            --depth_;
            if (!good) {
                return false;
            }
        }
        return true;
    }

    // Always false, for `return w.fail(…)`. Only the first failure counts.
    bool fail(std::string_view why) { return fail(std::string_view{}, why); }
    bool fail(std::string_view member, std::string_view why);
    // With a code of its own, whosever text it is.
    bool fail_with(int code, std::string_view why);
    bool failed() const noexcept { return failed_; }
    refusal take_failure() { return std::move(failure_); }

    // A step into a member, for as long as it lives. The name must outlive it.
    class step {
    public:
        step(walk& w, std::string_view name) noexcept
            : walk_{w}
        {
            walk_.enter({name, no_position});
        }
        step(const step&) = delete;
        step& operator=(const step&) = delete;
        ~step() { --walk_.depth_; }

    private:
        walk& walk_;
    };

private:
    static constexpr std::size_t no_position = static_cast<std::size_t>(-1);

    struct place {
        std::string_view name;
        std::size_t position = no_position;
    };

    void enter(place at) noexcept
    {
        places_[depth_ < places_.size() ? depth_ : places_.size() - 1] = at;
        ++depth_;
    }

    std::array<place, 16> places_{};  // deeper than A2A nests objects of its own
    std::size_t depth_ = 0;
    origin_side side_;
    bool failed_ = false;
    refusal failure_;
};

// Checks of members, false with the path if the value is of another type. An absent one passes.
bool check_string(walk& w, std::string_view name, std::string_view raw);
bool check_object(walk& w, std::string_view name, std::string_view raw);
bool check_boolean(walk& w, std::string_view name, std::string_view raw);
bool check_array(walk& w, std::string_view name, std::string_view raw);

// A whole number, as JSON number or, as ProtoJSON allows, as a string of digits. `digits` gets the number's own bytes.
bool check_integer(walk& w, std::string_view name, std::string_view raw, std::string_view& digits);

// The strings of an array. ProtoJSON writes no empty array: `raw` becomes empty then.
bool check_strings(walk& w, std::string_view name, std::string_view& raw);

// A string that counts only if it is not empty, as in ProtoJSON: `raw` becomes empty if it is `""`.
bool check_filled_string(walk& w, std::string_view name, std::string_view& raw);

}  // namespace a2a
