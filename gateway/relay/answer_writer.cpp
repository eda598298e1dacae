#include "gateway/relay/answer_writer.hpp"

#include "core/ascii.hpp"
#include "mcp/protocol/message.hpp"
#include "net/http1/head_writer.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gateway::relay {
namespace {

// In lines that begin with a status line.
void set_json(std::string& head)
{
    constexpr std::string_view name = "Content-Type:";
    for (auto at = head.find("\r\n"); at != std::string::npos && at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
        if (core::equal_ignoring_case(std::string_view{head}.substr(at + 2, name.size()), name)) {
            const auto end = head.find("\r\n", at + 2);
            head.replace(at + 2, end - at - 2, "Content-Type: application/json");
            return;
        }
    }
}

// The answers in the events: the first, or an array of all. Empty: nothing.
std::string answers_in(std::string_view events, bool all)
{
    std::vector<std::string> found;
    net::sse_splitter splitter{events.size() + 1};
    splitter.feed(events);
    while (all || found.empty()) {
        auto event = splitter.next();
        if (!event) {
            event = splitter.take_rest();
        }
        if (!event) {
            break;
        }
        if (auto data = net::sse_data(*event); data && !data->empty()) {
            found.push_back(std::move(*data));
        }
    }
    if (found.empty()) {
        return {};
    }
    return all ? ::mcp::batch_of(found) : std::move(found.front());
}

}  // namespace

answer_writer::answer_writer(net::caller_exchange& caller, task_watch& tasks) noexcept
    : caller_{caller},
      tasks_{tasks}
{
}

void answer_writer::leave_length_open() noexcept
{
    length_open_ = kept_ == nullptr;
}

void answer_writer::expect_events(std::uint64_t limit, core::duration keep_alive)
{
    events_.emplace(limit, keep_alive);
}

void answer_writer::expect_messages(core::duration keep_alive)
{
    messages_ = true;
    keep_alive_ = keep_alive;
    wrote();
}

void answer_writer::keep_answers(std::uint64_t limit, bool all, ::mcp::event_gate& gate)
{
    kept_ = std::make_unique<kept_answers>(limit, all);
    expect_events(limit, core::duration{});
    set_gate(&gate);
}

void answer_writer::write_fields(
    std::string& text,
    const net::http1::response_head& head,
    body_care care,
    answer_of from,
    std::string_view extensions_as
) const
{
    const bool kept = kept_ != nullptr && care == body_care::passes;
    write_answer_fields(text, head, kept ? body_care::edited : care, from, extensions_as);
    if (kept_ != nullptr) {
        set_json(text);
    }
    if (net::http1::find(head.fields, net::http1::field_name::date) == nullptr) {
        net::http1::head_writer{text}.field("Date", caller_.owner().http_date());
    }
    tasks_.begin(head, care);
}

void answer_writer::add_head(std::optional<std::uint64_t> length)
{
    auto& text = caller_.scratch();
    if (kept_ != nullptr && !kept_->over) {
        if (kept_->head.empty()) {
            kept_->head = text;
        }
        return;
    }
    if (length) {
        tasks_.set_length(*length);
    }
    if (length_open_) {
        caller_.complete_head(text, net::answer_length::open());
    } else {
        caller_.complete_head(text, length ? net::answer_length::known(*length) : net::answer_length::untold());
    }
    out_.head = text;
}

bool answer_writer::add(std::string_view data)
{
    if (data.empty()) {
        return true;
    }
    if (tasks_.reads() && !messages_) {
        tasks_.see(data);
    }
    if (!events_) {
        add_piece(data);
        return true;
    }
    if (wrapping_ != wrap::none) {
        auto& text = copied_[added_];
        text = std::exchange(wrapping_, wrap::within) == wrap::before ? "data: " : "";
        const auto begin = text.size();
        text += data;
        std::replace_if(
            text.begin() + static_cast<std::ptrdiff_t>(begin),
            text.end(),
            [](char c) { return c == '\r' || c == '\n'; },
            ' '
        );
        data = text;
    } else if (gate_ != nullptr) {
        data = gate_->pass(data, copied_[added_]);
    }
    const auto passed = events_->pass(data);
    if (kept_ != nullptr) {
        kept_->events.append(passed.bytes.held).append(passed.bytes.rest);
        return !passed.too_large && !(gate_ != nullptr && gate_->too_large()) && kept_->events.size() <= kept_->limit;
    }
    if (!passed.bytes.rest.empty()) {
        add_piece(passed.bytes.held, passed.bytes.rest);
    }
    return !passed.too_large && (gate_ == nullptr || !gate_->too_large());
}

void answer_writer::add_comment()
{
    if (events_) {
        add_piece(events_->comment());
    } else {
        caller_.ping();
        wrote();
    }
}

void answer_writer::add_event(std::string_view text)
{
    if (!text.empty() && kept_ == nullptr) {
        add_piece(text);
    }
}

bool answer_writer::has_answer() const noexcept
{
    return kept_ != nullptr && !kept_->all && !kept_->over && is_between_events() &&
           kept_->events.find_first_not_of("\r\n") != std::string::npos;
}

// Nothing if none has come.
void answer_writer::add_kept()
{
    auto& body = copied_[0];
    body = answers_in(kept_->events, kept_->all);
    kept_->events = {};
    kept_->over = !body.empty();
    if (kept_->over) {
        caller_.scratch() = std::move(kept_->head);
        add_head(body.size());
        out_.body.add(body);
        out_.last = true;
    }
}

void answer_writer::add_end(std::string_view trailers)
{
    if (kept_ != nullptr) {
        return add_kept();
    }
    if (wrapping_ == wrap::within) {
        out_.body.add("\n\n");
    }
    out_.trailers = trailers;
    out_.last = true;
}

void answer_writer::add_piece(std::string_view first, std::string_view second)
{
    ++added_;
    out_.body.add(first);
    out_.body.add(second);
}

net::answer_part answer_writer::take() noexcept
{
    begun_ = true;
    added_ = 0;
    return std::exchange(out_, {});
}

void answer_writer::wrote() noexcept
{
    if (events_) {
        events_->wrote(caller_.owner().now());
    } else if (keep_alive_ > core::duration{}) {
        sign_due_ = caller_.owner().now() + keep_alive_;
    }
}

}  // namespace gateway::relay
