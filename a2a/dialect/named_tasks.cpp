#include "a2a/dialect/named_tasks.hpp"

#include "a2a/dialect/task_scan.hpp"
#include "a2a/dialect/walk.hpp"
#include "core/ascii.hpp"
#include "core/json/json_bytes.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace a2a {
namespace {

enum class member : std::uint8_t {
    other,
    id,
    task_id,
    context_id,
    message,
    request,
    references,
    resource,
    config,
    configuration,
    push,
    task_push,
};

constexpr std::size_t longest_name = std::string_view{"taskpushnotificationconfig"}.size();

// In lower case and without underscores, with the two letters beyond ASCII that readers which ignore case take for ours:
// U+017F is an s, U+212A a k.
std::string_view folded(std::string_view name, std::array<char, longest_name + 1>& room)
{
    std::size_t size = 0;
    while (!name.empty() && size < room.size()) {
        std::size_t used = 1;
        char c = core::lower(name.front());
        if (name.starts_with("\xC5\xBF")) {
            used = 2;
            c = 's';
        } else if (name.starts_with("\xE2\x84\xAA")) {
            used = 3;
            c = 'k';
        }
        name.remove_prefix(used);
        if (c != '_') {
            room[size++] = c;
        }
    }
    return {room.data(), size};
}

member member_named(std::string_view name)
{
    std::array<char, longest_name + 1> room{};
    const auto plain = folded(name, room);
    if (plain == "id") {
        return member::id;
    }
    if (plain == "taskid") {
        return member::task_id;
    }
    if (plain == "contextid") {
        return member::context_id;
    }
    if (plain == "message") {
        return member::message;
    }
    if (plain == "request") {  // the message, in the protocol buffers of 0.3
        return member::request;
    }
    if (plain == "name" || plain == "parent") {
        return member::resource;
    }
    if (plain == "config") {
        return member::config;
    }
    if (plain == "configuration") {
        return member::configuration;
    }
    if (plain == "pushnotificationconfig") {
        return member::push;
    }
    if (plain == "taskpushnotificationconfig") {
        return member::task_push;
    }
    return plain == "referencetaskids" ? member::references : member::other;
}

member member_of(std::string_view raw_name, bool escaped)
{
    return escaped ? member_named(core::unescape_json(raw_name)) : member_named(raw_name);
}

bool visit(std::string_view raw, const name_visitor& each, named what = named::task)
{
    if (is_string(raw)) {
        std::string room;
        return each(what, text_of(raw, room));
    }
    return raw == "null" || each(named::unclear, {});
}

bool visit_all(std::string_view raw, const name_visitor& each)
{
    if (!is_array(raw)) {
        return visit(raw, each);
    }
    array_walker at{raw};
    std::string_view element;
    while (at.next(element)) {
        if (!visit(element, each)) {
            return false;
        }
    }
    return true;
}

template <class Each>
bool each_member_of(std::string_view object, const name_visitor& to, Each& each)
{
    core::json_cursor<core::wide_bytes> cursor{object, core::json_cursor<core::wide_bytes>::deepest};
    std::uint32_t seen = 0;
    return cursor.object([&](std::string_view name, bool escaped, std::string_view value) {
        const auto what = member_of(name, escaped);
        const bool may_repeat = what == member::other || what == member::resource;
        const auto bit = may_repeat ? 0U : 1U << static_cast<unsigned>(what);
        const bool twice = (seen & bit) != 0;
        seen |= bit;
        return (!twice || to(named::unclear, {})) && each(what, value);
    });
}

// The members of an object of a text that is JSON, or of each object in an array.
template <class Each>
bool each_member(std::string_view raw, const name_visitor& to, Each&& each)
{
    if (is_object(raw)) {
        return each_member_of(raw, to, each);
    }
    if (!is_array(raw)) {
        return true;
    }
    array_walker at{raw};
    std::string_view element;
    while (at.next(element)) {
        const bool goes_on =
            is_object(element) ? each_member_of(element, to, each) : !is_array(element) || to(named::unclear, {});
        if (!goes_on) {
            return false;
        }
    }
    return true;
}

// A name of the protocol buffers of 0.3, such as `tasks/t/pushNotificationConfigs/c`. Readers look for the task behind the first slash, the
// last one, or `tasks/` anywhere, so that each segment counts as one.
bool visit_resource(std::string_view raw, const name_visitor& each)
{
    constexpr std::string_view tasks = "tasks/";
    if (is_array(raw)) {
        // Nothing of A2A has such a name, but some readers make a text of it.
        const bool plain = raw.find(tasks) == std::string_view::npos && raw.find('\\') == std::string_view::npos;
        return plain || each(named::unclear, {});
    }
    if (!is_string(raw)) {
        return true;
    }
    std::string room;
    std::string_view name = text_of(raw, room);
    const bool usual = name.starts_with(tasks);
    name.remove_prefix(usual ? tasks.size() : 0);
    for (bool first = true; !name.empty(); first = false) {
        const auto segment = name.substr(0, name.find('/'));
        name.remove_prefix(std::min(segment.size() + 1, name.size()));
        const bool says_nothing = segment.empty() || (usual && !first && segment == "pushNotificationConfigs");
        if (!says_nothing && !each(named::task, segment)) {
            return false;
        }
    }
    return true;
}

bool visit_config(std::string_view raw, const name_visitor& each)
{
    return each_member(raw, each, [&each](member what, std::string_view value) {
        if (what == member::task_id) {
            return visit(value, each);
        }
        return what != member::resource || visit_resource(value, each);
    });
}

// That of a message.
bool visit_configuration(std::string_view raw, const name_visitor& each)
{
    return each_member(raw, each, [&each](member what, std::string_view value) {
        return (what != member::push && what != member::task_push) || visit_config(value, each);
    });
}

bool visit_message(std::string_view raw, const name_visitor& each)
{
    std::string_view references;
    const bool done = each_member(raw, each, [&](member what, std::string_view value) {
        if (what == member::task_id) {
            return visit(value, each);
        }
        if (what == member::context_id) {
            return visit(value, each, named::context);
        }
        if (what != member::references) {
            return true;
        }
        const auto before = std::exchange(references, value);
        return before.empty() || visit_all(before, each);
    });
    return done && (references.empty() || visit_all(references, each));
}

// A letter at the end of a name becomes, for ends_as_such(), itself in lower case, `other`, or nothing that counts.
constexpr char other = '_';
constexpr auto last_letters = [] {
    std::array<char, 256> all{};
    for (std::size_t byte = 0; byte < all.size(); ++byte) {
        const auto c = core::lower(static_cast<char>(byte));
        const bool counts = std::string_view{"adeikmnst\""}.find(c) != std::string_view::npos;
        all[byte] = c == '_' || byte >= 0x80 ? other : (counts ? c : '\0');
    }
    return all;
}();

// Whether a name ends as one of those that name something by themselves: `id`, `taskId` and `contextId`, `referenceTaskIds`, `name`,
// `parent`. Other spellings have an underscore or a letter beyond ASCII there. `end`: where it ends, three bytes or more behind the
// beginning of the text, which may be the quote in front of `id`.
bool ends_as_such(const char* end) noexcept
{
    const auto letter = [end](std::ptrdiff_t back) { return last_letters[static_cast<unsigned char>(*(end - back))]; };
    const auto is = [](char c, char wanted) { return c == wanted || c == other; };
    const char last = letter(1);
    const char second = letter(2);
    switch (last) {
        case 'd':
            return second == other || (second == 'i' && (is(letter(3), 'k') || is(letter(3), 't') || letter(3) == '"'));
        case 's':
            return second == other || (second == 'd' && is(letter(3), 'i'));
        case 'e':
            return second == other || (second == 'm' && is(letter(3), 'a'));
        case 't':
            return second == other || (second == 'n' && is(letter(3), 'e'));
        default:
            return second == other || last == other;
    }
}

// Whether a name that ends in front of the quote at `end` can name a task or a context by itself. What has an escape can.
bool may_name(std::string_view text, std::size_t end, bool escapes)
{
    if (!escapes && (end < 3 || !ends_as_such(text.data() + end))) {
        return false;
    }
    std::size_t begin = end;
    while (begin > 0 && text[begin - 1] != '"') {
        if (text[begin - 1] == '\\') {
            return true;
        }
        --begin;
    }
    switch (member_named(text.substr(begin, end - begin))) {
        case member::id:
        case member::task_id:
        case member::context_id:
        case member::references:
        case member::resource:
            return true;
        case member::message:  // names none but by a member of its own
        case member::request:
        case member::config:
        case member::configuration:
        case member::push:
        case member::task_push:
        case member::other:
            return false;
    }
    return true;
}

// Most parameters name none, and have a long message: what stands in front of each colon tells so without reading the rest.
// A colon within a text is looked at too, which costs a look and hides nothing.
bool may_name_any(std::string_view params)
{
    const bool escapes = params.find('\\') != std::string_view::npos;
    return any_name_end(params, [&](std::size_t end) { return may_name(params, end, escapes); });
}

}  // namespace

bool each_named(std::string_view params, const name_visitor& each)
{
    return !may_name_any(params) || each_member(params, each, [&each](member what, std::string_view value) {
        switch (what) {
            case member::id:
            case member::task_id:
                return visit(value, each);
            case member::context_id:
                return visit(value, each, named::context);
            case member::resource:
                return visit_resource(value, each);
            case member::config:
            case member::push:
            case member::task_push:
                return visit_config(value, each);
            case member::configuration:
                return visit_configuration(value, each);
            case member::message:
            case member::request:
                return visit_message(value, each);
            case member::references:
            case member::other:
                break;
        }
        return true;
    });
}

}  // namespace a2a
