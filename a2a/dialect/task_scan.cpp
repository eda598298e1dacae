#include "a2a/dialect/task_scan.hpp"

#include "core/json/json_bytes.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <cstddef>
#include <cstring>
#include <string>

namespace a2a {
namespace {

constexpr std::string_view data_name = "data:";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// `end` if there is none.
const char* find(const char* at, const char* end, char c) noexcept
{
    const auto* const found = std::memchr(at, c, static_cast<std::size_t>(end - at));
    return found == nullptr ? end : static_cast<const char*>(found);
}

const char* line_end(const char* at, const char* end) noexcept
{
    return find(at, find(at, end, '\n'), '\r');
}

// task_text looks for `status` and `artifact`, without which no task is reported, and `contextId`.
bool ends_as_such(std::string_view name, bool contexts) noexcept
{
    return name.ends_with("us") || name.ends_with("ct") || (contexts && name.ends_with("tId"));
}

// `end` is the place of the quote after a name. A name with an escape may be any name.
bool is_escaped(std::string_view text, std::size_t end) noexcept
{
    while (end > 0 && text[end - 1] != '"') {
        if (text[end - 1] == '\\') {
            return true;
        }
        --end;
    }
    return false;
}

}  // namespace

bool may_show_task(std::string_view document, bool contexts)
{
    const bool escapes = document.find('\\') != std::string_view::npos;
    return any_name_end(document, [&](std::size_t end) {
        return ends_as_such(document.substr(0, end), contexts) || (escapes && is_escaped(document, end));
    });
}

bool task_scan::feed(std::string_view piece, task_sink& to)
{
    if (framing_ == framing::events) {
        feed_events(piece, to);
        return true;
    }
    text_.feed(piece, to);
    return !text_.done();
}

void task_scan::feed_events(std::string_view piece, task_sink& to)
{
    const char* at = piece.data();
    const char* const end = at + piece.size();
    while (at != end) {
        if (line_ == line::name) {
            at = read_name(at);
            continue;
        }
        if (line_ == line::space) {
            line_ = line::data;
            if (*at == ' ') {
                ++at;
                continue;
            }
        }
        const char* const stop = line_end(at, end);
        if (line_ == line::data) {
            text_.feed({at, static_cast<std::size_t>(stop - at)}, to);
        }
        at = stop;
        if (at != end) {
            end_line(*at);
            ++at;
        }
    }
}

// One byte of a line of which the name is not known yet.
const char* task_scan::read_name(const char* at)
{
    const char c = *at;
    if (marks_ < byte_order_mark.size()) {
        if (c == byte_order_mark[marks_]) {
            ++marks_;
            return at + 1;
        }
        const bool broken = marks_ != 0;
        marks_ = byte_order_mark.size();
        if (broken) {
            line_ = line::other;
            return at;
        }
    }
    const bool second_half = c == '\n' && after_return_ && matched_ == 0;
    after_return_ = false;
    if (second_half) {
        return at + 1;
    }
    if (c == '\r' || c == '\n') {
        if (matched_ == 0) {
            text_.restart();  // the event has ended
        }
        end_line(c);
    } else if (c == data_name[matched_]) {
        ++matched_;
        line_ = matched_ == data_name.size() ? line::space : line::name;
    } else {
        line_ = line::other;
    }
    return at + 1;
}

void task_scan::end_line(char c) noexcept
{
    line_ = line::name;
    matched_ = 0;
    after_return_ = c == '\r';
}

void task_text::feed(std::string_view piece, task_sink& to)
{
    const char* at = piece.data();
    const char* const end = at + piece.size();
    while (at != end && mode_ != mode::done) {
        switch (mode_) {
            case mode::name_text:
            case mode::id_text:
            case mode::state_text:
            case mode::context_text:
                at = read_text(at, end, to);
                break;
            case mode::other_text:
            case mode::nested_text:
                at = skip_text(at, end);
                break;
            case mode::nested:
                at = skip_nested(at, end);
                break;
            case mode::bare:
                at = read_bare(at, end, to);
                break;
            case mode::value:
            case mode::name:
            case mode::colon:
            case mode::done:
                read_one(*at, to);
                ++at;
                break;
        }
    }
}

void task_text::restart() noexcept
{
    mode_ = mode::value;
    wants_ = want::document;
    in_ = object::none;
    told_ = false;
}

void task_text::read_one(char c, task_sink& to)
{
    if (core::is(c, core::byte_class::space)) {
        return;
    }
    if (mode_ == mode::value) {
        begin_value(c, to);
    } else if (mode_ == mode::colon) {
        mode_ = c == ':' ? mode::value : mode::done;
        if (c == ':' && wants_ == want::artifact) {
            has_artifact_ = true;
            tell(to);
        }
    } else if (c == '"') {
        begin_text();
        mode_ = mode::name_text;
    } else if (c == '}') {
        leave(to);
    } else if (c != ',') {
        mode_ = mode::done;
    }
}

void task_text::begin_value(char c, task_sink& to)
{
    if (wants_ == want::document) {
        if (c == '{') {
            enter(object::outer);
        } else {
            mode_ = mode::done;
        }
        return;
    }
    if ((wants_ == want::wrapped && c == '{') || (wants_ == want::result && c != 'n')) {
        to.on_result();
    }
    if (c == '"') {
        begin_text();
        const bool id = wants_ == want::id || wants_ == want::task_id;
        mode_ = id                        ? mode::id_text
                : wants_ == want::state   ? mode::state_text
                : wants_ == want::context ? mode::context_text
                                          : mode::other_text;
    } else if (c == '{' && wants_ == want::result) {
        enter(object::result);
    } else if (c == '{' && wants_ == want::wrapped) {
        enter(object::task);
    } else if (c == '{' && wants_ == want::status) {
        around_status_ = in_;
        in_ = object::status;
        state_ = task_state::unspecified;
        mode_ = mode::name;
    } else if (c == '{' || c == '[') {
        depth_ = 1;
        mode_ = mode::nested;
    } else {
        begin_text();
        keep({&c, 1});
        mode_ = mode::bare;
    }
}

// Facts of the object around it do not count for this one: the id of a JSON-RPC answer is not that of a task.
void task_text::enter(object what) noexcept
{
    in_ = what;
    id_size_ = 0;
    has_task_id_ = false;
    has_status_ = false;
    has_artifact_ = false;
    has_context_ = false;
    mode_ = mode::name;
}

void task_text::leave(task_sink& to)
{
    if (in_ != object::status) {
        mode_ = mode::done;
        return;
    }
    in_ = around_status_;
    end_state(to);
}

void task_text::end_state(task_sink& to)
{
    mode_ = mode::name;
    has_status_ = true;
    tell(to);
}

void task_text::tell(task_sink& to)
{
    if (told_ || id_size_ == 0 || (!has_status_ && !has_artifact_)) {
        return;
    }
    told_ = true;
    if (until_ == until::task || has_context_) {
        mode_ = mode::done;
    }
    const std::string_view raw{id_.data(), id_size_};
    const auto state = has_status_ ? std::optional{state_} : std::nullopt;
    if (raw.find('\\') == std::string_view::npos) {
        to.on_task(raw, state);
    } else {
        to.on_task(core::unescape_json(raw), state);
    }
}

void task_text::begin_text()
{
    word_size_ = 0;
    after_backslash_ = false;
    has_escape_ = false;
    too_long_ = false;
}

void task_text::keep(std::string_view piece) noexcept
{
    const bool id = mode_ == mode::id_text;
    const std::size_t room = id ? id_.size() : word_.size();
    if (too_long_ || piece.size() > room - word_size_) {
        too_long_ = true;
        return;
    }
    std::memcpy((id ? id_.data() : word_.data()) + word_size_, piece.data(), piece.size());
    word_size_ = static_cast<std::uint16_t>(word_size_ + piece.size());
}

const char* task_text::read_text(const char* at, const char* end, task_sink& to)
{
    while (at != end) {
        const char* stop = at;
        if (!after_backslash_) {
            stop = core::wide_bytes::skip_plain(at, end);
            keep({at, static_cast<std::size_t>(stop - at)});
            if (stop == end) {
                return end;
            }
            if (*stop == '"') {
                end_text(to);
                return stop + 1;
            }
        }
        after_backslash_ = !after_backslash_ && *stop == '\\';
        has_escape_ = has_escape_ || after_backslash_;
        keep({stop, 1});
        at = stop + 1;
    }
    return at;
}

void task_text::end_text(task_sink& to)
{
    const std::string_view text{word_.data(), word_size_};
    if (mode_ == mode::name_text) {
        mode_ = mode::colon;
        wants_ = want::nothing;
        if (!too_long_) {
            wants_ = has_escape_ ? wanted_at(core::unescape_json(text)) : wanted_at(text);
        }
    } else if (mode_ == mode::id_text) {
        id_size_ = too_long_ ? std::uint16_t{0} : word_size_;
        has_task_id_ = wants_ == want::task_id;
        mode_ = mode::name;
        tell(to);
    } else if (mode_ == mode::context_text) {
        mode_ = told_ ? mode::done : mode::name;
        has_context_ = true;
        if (!too_long_ && !text.empty()) {
            if (has_escape_) {
                to.on_context(core::unescape_json(text));
            } else {
                to.on_context(text);
            }
        }
    } else {
        std::string quoted{'"'};
        quoted.append(text).push_back('"');
        state_ = too_long_ ? task_state::unspecified : read_state(quoted);
        end_state(to);
    }
}

task_text::want task_text::wanted_at(std::string_view name) const noexcept
{
    if (told_) {
        return in_ != object::status && name == "contextId" ? want::context : want::nothing;
    }
    if (in_ == object::status) {
        return name == "state" ? want::state : want::nothing;
    }
    if (name == "id") {
        return has_task_id_ ? want::nothing : want::id;
    }
    if (name == "taskId") {
        return want::task_id;
    }
    if (name == "contextId") {
        return want::context;
    }
    if (name == "status" || name == "artifact") {
        return name == "status" ? want::status : want::artifact;
    }
    if (in_ == object::outer && name == "result") {
        return want::result;
    }
    const bool message = name == "message" || name == "msg";
    const bool wrapper = message || name == "task" || name == "statusUpdate" || name == "artifactUpdate";
    return wrapper && in_ != object::task ? want::wrapped : want::nothing;
}

const char* task_text::read_bare(const char* at, const char* end, task_sink& to)
{
    for (; at != end; ++at) {
        if (*at == ',' || *at == '}' || core::is(*at, core::byte_class::space)) {
            if (wants_ == want::state) {
                state_ = read_state({word_.data(), word_size_});
            }
            mode_ = mode::name;
            if (*at == '}') {
                leave(to);
            }
            return at + 1;
        }
        keep({at, 1});
    }
    return at;
}

// Where the next quote is, is looked up once for all backslashes in front of it.
const char* task_text::skip_text(const char* at, const char* end)
{
    if (after_backslash_) {
        after_backslash_ = false;
        ++at;
    }
    const char* quote = find(at, end, '"');
    for (;;) {
        const char* const backslash = find(at, quote, '\\');
        if (backslash == quote) {
            break;
        }
        at = backslash + 1;
        if (at == end) {
            after_backslash_ = true;
            return at;
        }
        ++at;
        if (at > quote) {
            quote = find(at, end, '"');
        }
    }
    if (quote == end) {
        return end;
    }
    mode_ = mode_ == mode::nested_text ? mode::nested : mode::name;
    return quote + 1;
}

const char* task_text::skip_nested(const char* at, const char* end)
{
    for (; at != end; ++at) {
        switch (*at) {
            case '"':
                begin_text();
                mode_ = mode::nested_text;
                return at + 1;
            case '{':
            case '[':
                ++depth_;
                break;
            case '}':
            case ']':
                if (--depth_ == 0) {
                    mode_ = mode::name;
                    return at + 1;
                }
                break;
            default:
                break;
        }
    }
    return at;
}

}  // namespace a2a
