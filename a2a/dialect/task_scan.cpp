#include "a2a/dialect/task_scan.hpp"

#include <cstddef>
#include <cstring>

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

}  // namespace a2a
