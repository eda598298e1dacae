#include "gateway/relay/answer_editor.hpp"

#include "gateway/model/control_services.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <utility>

namespace gateway::relay {

using core::errc;
using net::http1::framing;

namespace {

// Most servers have said in so much of an answer what kind of result it is.
constexpr std::size_t beginning = 16 * 1024;

// A longer text is edited on another thread.
constexpr std::size_t edited_at_once = 256 * 1024;

// Into a head without its end that has this status.
void set_status(std::string& head, unsigned status, const model::edited_answer& answer)
{
    if (answer.status != 0 && answer.status != status) {
        std::string line;
        net::http1::head_writer{line}.status_line(answer.status);
        head.replace(0, head.find("\r\n") + 2, line);
    }
    if (answer.refused) {
        net::http1::head_writer{head}.field("Cardea-Error", core::name(*answer.refused));
    }
}

// Nothing that is large is kept for what may come in days.
void drop_text(std::string& text)
{
    text.clear();
    if (text.capacity() > net::small_block) {
        std::string{}.swap(text);
    }
}

// The data of a large event, whose other lines are kept.
std::optional<std::string> part_data(std::string& event)
{
    auto whole = std::exchange(event, net::with_sse_data(event, {}));
    return net::take_sse_data(std::move(whole));
}

}  // namespace

text_edit::text_edit(means with)
    : answer_edit{{
          .limit = with.limit,
          .each = with.each,
          .renames = with.renames,
          .too_large = errc::message_too_large,
          .unreadable = errc::upstream_protocol,
      }},
      side_{with.side},
      here_{std::move(with.here)}
{
}

net::routine<core::result<model::edited_answer>> text_edit::edit(std::string text)
{
    if (text.size() <= edited_at_once) {
        co_return edit_here(std::move(text));
    }
    auto asked = side_.ask<core::result<model::edited_answer>>([this, &text] { return edit_here(std::move(text)); });
    co_return co_await net::ask(here_, here_, std::move(asked));
}

answer_editor::answer_editor(
    net::caller_exchange& caller,
    agent_exchange& agent,
    exchange_wait& wait,
    answer_writer& writer,
    std::span<const std::unique_ptr<answer_edit>> edits
)
    : caller_{caller},
      agent_{agent},
      wait_{wait},
      writer_{writer},
      edits_{edits},
      edit_{*edits.front()},
      // An edited text is as long in an event as elsewhere.
      events_{std::min(agent.settings().limits.sse_event, edit_.on().limit)},
      share_{caller.bodies()}
{
}

net::routine<core::result<>> answer_editor::edit_whole()
{
    const auto& head = agent_.head();
    if (head.body == framing::length) {
        if (head.content_length > edit_.on().limit && !edit_.on().each) {
            co_return too_large();
        }
        text_.reserve(std::min(head.content_length, edit_.on().limit));
    }
    std::string as_it_came;
    std::string as_edited;
    if (!edit_.on().every) {
        write_fields(as_it_came, body_care::passes);
    }
    write_fields(as_edited, care());
    has_body_ = head.body != net::http1::framing::none;
    const auto status = head.status;
    agent_.side().consume_head();
    const bool bodiless = agent_.side().body_done() && !edit_.on().every;  // to HEAD
    bool looked = false;
    const auto whole_by = caller_.owner().now() + head_time(agent_.call());
    while (!agent_.side().body_done()) {
        auto came = co_await read(std::min(whole_by, silent_until()));
        if (!came || !*came) {
            co_return came ? interrupted(woken::late, "body") : std::move(came).error();
        }
        if (!looked && text_.size() >= beginning) {
            looked = true;
            if (edit_.passes(text_)) {
                co_return co_await pass_rest(std::move(as_it_came));
            }
        }
        // Text that passes has no limit, nor has text that was not looked at yet.
        const bool may_pass = edit_.on().each && !looked;
        if (!may_pass && text_.size() + agent_.side().announced() > edit_.on().limit) {
            co_return too_large();
        }
        if (!share_.set(text_.size())) {
            co_return core::gateway_error(errc::overloaded, "bodies");
        }
    }
    agent_.give_back();
    caller_.clock().stop();
    if (bodiless) {
        co_return co_await send_whole(std::move(as_edited), std::move(text_));
    }
    auto answer = co_await edited(std::move(text_));
    if (!answer || !share_.set(answer->text.size())) {
        co_return answer ? core::gateway_error(errc::overloaded, "bodies") : std::move(answer).error();
    }
    if (writer_.begun()) {
        if (!writer_.add(answer->text)) {
            co_return core::upstream_error(errc::event_too_large);
        }
        writer_.add_end();
        co_return co_await caller_.send(writer_.take());
    }
    auto fields = std::move(answer->edited || edit_.on().every ? as_edited : as_it_came);
    set_status(fields, status, *answer);
    co_return co_await send_whole(std::move(fields), std::move(answer->text));
}

net::routine<core::result<model::edited_answer>> answer_editor::edited(std::string text)
{
    model::edited_answer answer{std::move(text), false};
    for (const auto& each : edits_) {
        if (!each->concerns(answer.text)) {
            continue;
        }
        auto next = co_await each->edit(std::move(answer.text));
        if (!next) {
            co_return std::move(next).error();
        }
        answer.text = std::move(next->text);
        answer.edited = answer.edited || next->edited;
        if (&each == &edits_.front()) {
            answer.status = next->status;
            answer.refused = next->refused;
        }
    }
    co_return answer;
}

// Nothing of the answer is edited: what has come goes out, and then each piece as it comes.
net::routine<core::result<>> answer_editor::pass_rest(std::string head)
{
    caller_.clock().stop();
    if (!writer_.begun()) {
        const bool told = agent_.head().body == framing::length;
        if (!told) {
            writer_.leave_length_open();
        }
        caller_.scratch() = std::move(head);
        writer_.add_head(told ? std::optional{agent_.head().content_length} : std::nullopt);
    }
    for (;;) {
        if (!writer_.add(text_)) {
            co_return core::upstream_error(errc::event_too_large);
        }
        if (agent_.side().body_done()) {
            writer_.add_end();
        }
        if (writer_.pending() > 0) {
            auto sent = co_await caller_.send(writer_.take());
            if (!sent) {
                co_return sent;
            }
            writer_.wrote();
        }
        text_.clear();
        share_.set(0);
        if (agent_.side().body_done()) {
            agent_.give_back();
            co_return core::result<>{};
        }
        auto came = co_await read(silent_until());
        if (!came) {
            co_return std::move(came).error();
        }
        if (!*came) {
            co_return interrupted(woken::late, "body");
        }
    }
}

// The length of a stream was left open.
net::routine<core::result<>> answer_editor::send_instead(std::string head, std::string body)
{
    constexpr std::string_view of_stream = "Content-Type: text/event-stream\r\n";
    if (const auto type = head.find(of_stream); type != std::string::npos) {
        head.replace(type, of_stream.size(), "Content-Type: application/json\r\n");
    }
    caller_.scratch() = std::move(head);
    writer_.add_head(std::nullopt);
    writer_.add(body);
    writer_.add_end();
    co_return co_await caller_.send(writer_.take());
}

net::routine<core::result<>> answer_editor::send_whole(std::string head, std::string body)
{
    caller_.scratch() = std::move(head);
    const bool bodiless = body.empty() && !has_body_;  // else clients would read until the connection's end
    writer_.add_head(bodiless ? std::nullopt : std::optional<std::uint64_t>{body.size()});
    writer_.add(body);
    writer_.add_end();
    auto sent = caller_.begin_send(writer_.take());
    if (!sent) {
        give_up(body);
        sent = co_await caller_.end_send();
    }
    co_return std::move(*sent);
}

// Behind begin_send() of a part with this text.
void answer_editor::give_up(std::string& text)
{
    if (caller_.part_is_free()) {
        drop_text(text);
        share_.set(events_.held() + edited_.size());
    }
}

void answer_editor::write_fields(std::string& text, body_care care) const
{
    const auto& call = agent_.call();
    writer_.write_fields(text, agent_.head(), care, answered_by(call), call.extensions_as);
    if (call.hooks.repair != nullptr) {
        call.hooks.repair->add_head_fields(text);
    }
    if (care != body_care::passes) {
        edit_.add_fields(text);
    }
}

body_care answer_editor::care() const noexcept
{
    return edit_.on().every ? body_care::translated : body_care::edited;
}

core::error answer_editor::too_large() const
{
    return core::upstream_error(
        edit_.on().too_large,
        "the answer is longer than " + std::to_string(edit_.on().limit) + " bytes"
    );
}

// From now on, between two pieces of the answer.
core::steady_time answer_editor::silent_until() const
{
    const auto& call = agent_.call();
    const auto silence =
        call.times.silence > core::duration{} ? call.times.silence : agent_.settings().timeouts.upstream_idle;
    return std::min(caller_.owner().now() + silence, agent_.answer_due());
}

// Adds the received part of the body to `text_`.
void answer_editor::take_received()
{
    auto& side = agent_.side();
    for (bool more = !side.body_done(); more;) {
        const auto piece = side.take();
        if (!piece) {
            broken_ = piece.error();
            break;
        }
        text_ += *piece;
        more = !piece->empty() && !side.body_done();
    }
    side.release();
}

// All that has come of a stream is out.
bool answer_editor::between_events() const
{
    return text_.empty() && events_.held() == 0 && edited_.empty() && writer_.between_events();
}

// Waits until more of the body is in `text_`, or the body is done, or a chunk is announced, which may be too large. False:
// nothing came in time.
net::routine<core::result<bool>> answer_editor::read(core::steady_time until)
{
    auto& side = agent_.side();
    const auto before = text_.size();
    for (;;) {
        if (broken_) {
            co_return std::move(*broken_);
        }
        if (caller_.interrupted()) {
            co_return interrupted(woken::ended, "body");
        }
        if (side.ready()) {
            take_received();
            if (text_.size() > before || (!broken_ && (side.body_done() || side.announced() > 0))) {
                co_return true;
            }
            continue;
        }
        if (wait_.ends_in_order() && between_events()) {
            co_return interrupted(woken::ended, "body");
        }
        side.arm();
        const auto how = co_await wait_.until(until);
        if (how == woken::late) {
            co_return false;
        }
        if (how != woken::by_event) {
            co_return interrupted(how, "body");
        }
    }
}

// The caller's answer begins when the first event that says something has been edited, so that until then a failure can
// still be told, unless the edit's terms let it begin at once; from then on each event goes out when it has come.
net::routine<core::result<>> answer_editor::edit_events()
{
    std::string fields;
    write_fields(fields, care());
    agent_.side().consume_head();
    auto silent_by = caller_.owner().now() + head_time(agent_.call());
    if (writer_.begun()) {
        silent_by = silent_until();
    } else if (edit_.on().every || edit_.on().each) {
        auto opening = co_await edit_.opening();
        if (!opening) {
            co_return std::move(opening).error();
        }
        if (auto whole = edit_.instead()) {
            set_status(fields, agent_.head().status, *whole);
            co_return co_await send_instead(std::move(fields), std::move(whole->text));
        }
        caller_.scratch() = std::move(fields);
        auto sent = co_await send_events(std::move(*opening), false);
        if (!sent) {
            co_return sent;
        }
        silent_by = silent_until();
        if (agent_.request_done() && !writer_.keeps_answers()) {
            caller_.release_request();
        }
    } else {
        caller_.scratch() = std::move(fields);
    }
    while (!agent_.side().body_done() && !edit_.over() && !writer_.has_answer()) {
        const auto comment_due = writer_.begun() ? writer_.comment_due() : net::never;
        auto came = co_await read(std::min(silent_by, comment_due));
        if (!came) {
            co_return std::move(came).error();
        }
        core::result<> done;
        if (*came) {
            done = co_await edit_received();
            if (writer_.begun() || writer_.keeps_answers()) {
                silent_by = silent_until();
            }
        } else if (comment_due < silent_by) {
            writer_.add_comment();
            done = co_await caller_.send(writer_.take());
            writer_.wrote();
        } else {
            done = interrupted(woken::late, "body");
        }
        if (!done) {
            co_return done;
        }
    }
    auto sent = co_await send_events(std::move(edited_), true);
    if (sent && agent_.side().body_done()) {
        agent_.give_back();
    }
    co_return sent;
}

std::string answer_editor::with_event_id(std::string event) const
{
    for (const auto& each : edits_) {
        if (each->on().renames) {
            event = net::with_sse_id(event, [&each](std::string_view id) { return each->event_id(id); });
        }
    }
    return event;
}

// Edits the events that have come whole, and at the end what is left of one. Sends them, or keeps them in `edited_`; what
// was edited before a failure goes out first.
net::routine<core::result<>> answer_editor::edit_received()
{
    events_.feed(text_);
    drop_text(text_);
    const auto held = [this] { return events_.held() + edited_.size() + writer_.kept(); };
    if (!share_.set(held())) {
        co_return core::gateway_error(errc::overloaded, "bodies");
    }
    bool says_something = writer_.begun();
    core::result<> done;
    while (done && !edit_.over()) {
        auto event = events_.next();
        if (!event && agent_.side().body_done()) {
            event = events_.take_rest();
        }
        if (!event) {
            break;
        }
        // The event and its data, while they wait for their edit.
        if (event->size() > net::small_block && !share_.set(held() + 2 * event->size())) {
            done = core::gateway_error(errc::overloaded, "bodies");
            continue;
        }
        const bool parts = edit_.on().every && event->size() > net::small_block;
        if (auto data = parts ? part_data(*event) : net::sse_data(*event)) {
            auto answer = co_await edited(std::move(*data));
            if (!answer) {
                done = std::move(answer).error();
                continue;
            }
            says_something = true;
            if (answer->edited && answer->text.empty()) {
                continue;
            }
            if (answer->edited || edit_.on().every) {
                event = net::with_sse_data(*event, answer->text);
            }
        }
        auto out = with_event_id(std::move(*event));
        if (edited_.empty()) {
            edited_ = std::move(out);
        } else {
            edited_ += out;
        }
    }
    if (done && (events_.too_large() || (!says_something && edited_.size() > agent_.settings().limits.sse_event))) {
        done = core::upstream_error(errc::event_too_large);
    }
    const bool goes_out = !agent_.side().body_done() || !done;  // else with the last chunk
    if (says_something && !edited_.empty() && goes_out) {
        auto text = std::exchange(edited_, {});
        if (text.size() > net::small_block && !share_.set(text.size() + held()) && done) {
            co_return core::gateway_error(errc::overloaded, "bodies");
        }
        auto sent = co_await send_events(std::move(text), false);
        done = done ? std::move(sent) : std::move(done);
    }
    co_return done;
}

// With the head in front of it, if that has not gone out. `last`: and the end of the body behind it.
net::routine<core::result<>> answer_editor::send_events(std::string text, bool last)
{
    const bool begins = !writer_.begun();
    if (begins) {
        writer_.add_head(std::nullopt);
        if (agent_.call().hooks.repair != nullptr) {
            writer_.add_event(agent_.call().hooks.repair->first_events());
        }
    }
    const auto head_size = writer_.pending();
    const bool fits = writer_.add(text);
    if (agent_.call().hooks.gate != nullptr) {
        tell_refused(agent_.call());
    }
    if (!fits && begins && writer_.pending() == head_size) {
        co_return core::upstream_error(errc::event_too_large);
    }
    if (fits && last) {
        writer_.add_end();
    }
    if (writer_.keeps_answers() && writer_.pending() == 0) {
        co_return fits ? core::result<>{} : core::upstream_error(errc::event_too_large);
    }
    auto sent = caller_.begin_send(writer_.take());
    if (!sent) {
        give_up(text);
        sent = co_await caller_.end_send();
    }
    writer_.wrote();
    if (*sent && !fits) {
        co_return core::upstream_error(errc::event_too_large);
    }
    co_return std::move(*sent);
}

}  // namespace gateway::relay
