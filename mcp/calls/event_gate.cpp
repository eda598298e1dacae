#include "mcp/calls/event_gate.hpp"

#include "core/json/json_cursor.hpp"
#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/read_text.hpp"
#include "net/sse/sse.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace mcp {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

constexpr std::size_t longest_id = 256;  // of a request that is answered here
constexpr std::string_view spaces = " \t\r\n";

// The part of a piece that goes on: a run of its bytes for as long as nothing is missing in between, and a copy from then on.
class output {
public:
    explicit output(std::string& room)
        : room_{room}
    {
        room_.clear();
    }

    void add(std::string_view text)
    {
        if (!copied_ && (run_.empty() || run_.data() + run_.size() == text.data())) {
            run_ = run_.empty() ? text : std::string_view{run_.data(), run_.size() + text.size()};
            return;
        }
        copy(text);
    }

    // Copies text that does not outlive this call.
    void copy(std::string_view text)
    {
        if (!std::exchange(copied_, true)) {
            room_ = run_;
        }
        room_ += text;
    }

    std::string_view all() const noexcept { return copied_ ? std::string_view{room_} : run_; }

private:
    std::string& room_;
    std::string_view run_;
    bool copied_ = false;
};

std::optional<double> number_in(std::string_view raw) noexcept
{
    double number = 0;
    const auto read = std::from_chars(raw.data(), raw.data() + raw.size(), number);
    return read.ec == std::errc{} && read.ptr == raw.data() + raw.size() ? std::optional{number} : std::nullopt;
}

// However the two are spelled: `1.0` and `"1"` are what some servers make of `1`.
bool is_same_id(std::string_view one, std::string_view other)
{
    if (one == other) {
        return true;
    }
    if (is_string(one) && is_string(other)) {
        return plain_name(one) == plain_name(other);
    }
    const auto id = number_of_id(one);
    const auto number = number_in(one);
    return (id && id == number_of_id(other)) || (number && number == number_in(other));
}

// The capability that a client must have declared to be asked this; nullopt: none.
std::optional<client_capability> needed_for(std::string_view method) noexcept
{
    using enum client_capability;
    constexpr std::pair<std::string_view, client_capability> families[] = {
        {"sampling/", sampling},
        {"elicitation/", elicitation},
        {"roots/", roots},
        {"tasks/", tasks},
    };
    for (const auto& [begin, needed] : families) {
        if (method.starts_with(begin)) {
            return needed;
        }
    }
    return std::nullopt;
}

}  // namespace

// Behind the empty line that ends the event under way; npos: that is not in these bytes.
std::size_t event_gate::find_end(std::string_view bytes) noexcept
{
    for (std::size_t at = 0; at < bytes.size();) {
        if (std::exchange(after_cr_, false) && bytes[at] == '\n') {
            ++at;
            continue;
        }
        const auto end = net::find_line_end(bytes, at);
        line_empty_ = line_empty_ && end == at;
        if (end == bytes.size()) {
            return std::string_view::npos;
        }
        const bool ended = std::exchange(line_empty_, true);
        after_cr_ = bytes[end] == '\r';
        at = end + 1;
        if (ended && after_cr_ && at < bytes.size() && bytes[at] == '\n') {
            after_cr_ = false;
            ++at;
        }
        if (ended) {
            return at;
        }
    }
    return std::string_view::npos;
}

std::string_view event_gate::pass(std::string_view piece, std::string& room)
{
    output out{room};
    if (after_cr_ && line_empty_ && held_.empty() && state_ == state::reads && piece.starts_with('\n')) {
        // The line end after the last event, in two pieces.
        after_cr_ = false;
        if (last_passed_) {
            out.add(piece.substr(0, 1));
        }
        piece.remove_prefix(1);
    }
    while (!piece.empty() && !too_large()) {
        const auto end = find_end(piece);
        const bool whole = end != std::string_view::npos;
        const auto part = piece.substr(0, end);
        piece.remove_prefix(part.size());
        last_passed_ = state_ == state::passes;
        if (last_passed_) {
            out.add(part);
        } else if (state_ == state::reads && whole && held_.empty()) {
            last_passed_ = may_pass(part);
            if (last_passed_) {
                out.add(part);
            }
        } else if (state_ == state::reads) {
            held_ += part;
            if (whole) {
                state_ = may_pass(held_) ? state::passes : state::drops;
            } else {
                look_early();
            }
            last_passed_ = state_ == state::passes;
            if (last_passed_) {
                out.copy(held_);
            }
            if (state_ != state::reads) {
                held_ = {};
            }
        }
        if (whole) {
            state_ = state::reads;
            looked_ = false;
        }
    }
    return out.all();
}

std::vector<std::string> event_gate::take_refused()
{
    return std::exchange(refused_, {});
}

// A long answer need not come whole before any of it goes on.
void event_gate::look_early()
{
    if (held_.size() < early || std::exchange(looked_, true)) {
        return;
    }
    std::string_view rest = held_;
    net::sse_line line;
    while (!rest.empty() && line.name != "data") {
        line = net::take_sse_line(rest);
    }
    const bool ended = line.whole.ends_with('\n') || line.whole.ends_with('\r');
    if (line.name != "data" || !rest.empty() || ended) {
        return;  // further lines of data may come
    }
    auto text = line.value;
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    cursor_type cursor{text, cursor_type::deepest};
    if (cursor.peek() != '{' || !cursor.open('{')) {
        return;
    }
    std::string_view id;
    std::string_view name;
    bool escaped = false;
    while (cursor.name(name, escaped) && !escaped && name != "method") {
        if (name == "result" || name == "error") {
            state_ = judge_answer(id) ? state::passes : state::drops;
            dropped_ += state_ == state::drops ? 1 : 0;
            return;
        }
        const auto* const begin = cursor.position();
        if (!cursor.value()) {
            return;
        }
        if (name == "id") {
            id = {begin, static_cast<std::size_t>(cursor.position() - begin)};
        }
        cursor.skip_space();
        if (!cursor.take(',')) {
            return;
        }
    }
}

bool event_gate::may_pass(std::string_view event)
{
    if (event.starts_with(net::byte_order_mark)) {
        event.remove_prefix(net::byte_order_mark.size());
    }
    std::string_view data;
    bool found = false;
    bool several = false;
    for (auto rest = event; !rest.empty();) {
        const auto line = net::take_sse_line(rest);
        if (line.name == "data") {
            several = std::exchange(found, true) || several;
            data = line.value;
        }
    }
    const auto joined = several ? net::sse_data(event) : std::nullopt;
    data = joined ? std::string_view{*joined} : data;
    data.remove_prefix(std::min(data.find_first_not_of(spaces), data.size()));
    bool passes = true;
    if (data.starts_with('[')) {
        for (const auto each : messages_in(data, "2025-03-26")) {
            passes = judge(each) && passes;
        }
    } else if (!data.empty()) {
        passes = judge(data);
    } else {
        passes = !terms_.answers_only;
    }
    dropped_ += passes ? 0 : 1;
    return passes;
}

bool event_gate::judge(std::string_view message)
{
    const auto read = read_message(message, {.bytes = terms_.limit});
    if (!read) {
        return judge_unreadable(message);
    }
    switch (read->kind) {
        case message_kind::result:
        case message_kind::failure:
            return judge_answer(read->id);
        case message_kind::request:
        case message_kind::notification:
            break;
    }
    const auto needed = needed_for(read->method);
    if (!terms_.answers_only && (!needed || !terms_.declared || terms_.declared->has(*needed))) {
        return true;
    }
    if (read->kind == message_kind::request) {
        refuse(read->id, read->method);
    }
    return false;
}

// An error without an id, or with null, may be what a server says that could not read the request.
bool event_gate::judge_answer(std::string_view raw_id)
{
    const bool unknown = !names_request(raw_id);
    if (terms_.call.empty()) {
        const bool again = !unknown && is_same_id(raw_id, last_answer_);
        if (terms_.replayed && !unknown) {
            last_answer_ = raw_id;
        }
        return terms_.replayed && !again;
    }
    if (answered_ || !(unknown || is_same_id(raw_id, terms_.call))) {
        return false;
    }
    answered_ = true;
    return true;
}

// The client judges possible answers, and messages that name no method in any spelling.
bool event_gate::judge_unreadable(std::string_view text)
{
    const auto whom = addressee_of(text, true);
    if (whom.answer) {
        return judge_answer(whom.raw);
    }
    return !terms_.answers_only && text.find("method") == std::string_view::npos &&
           text.find("\\u") == std::string_view::npos;
}

void event_gate::refuse(std::string_view raw_id, std::string_view method)
{
    if (raw_id.size() > longest_id || refused_.size() >= most_refused) {
        return;
    }
    message asked;
    asked.id = raw_id;
    asked.method = method;
    refused_.push_back(answer_to(asked));
}

}  // namespace mcp
