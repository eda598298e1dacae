// What the relay does to answers that hold a card: it reads them whole, or event by event, has the card editor edit
// them, and sends what came of it with a length and fields of its own.
#include "gateway/model/control_services.hpp"
#include "gateway/traffic/relay.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::framing;

core::error too_large(std::uint64_t limit)
{
    return core::upstream_error(errc::card_too_large, "the answer is longer than " + std::to_string(limit) + " bytes");
}

}  // namespace

net::routine<core::result<>> relay::edit_answer()
{
    const auto& head = lease_->parser().head();
    if (head.status == 304) {
        // Nothing was asked on a condition.
        co_return core::upstream_error(errc::upstream_status, "status 304");
    }
    const bool empty = head.body == framing::none || (head.body == framing::length && head.content_length == 0);
    if (head.status >= 300 || (empty && call_.verb != net::http1::method::head)) {
        co_return co_await pass_answer();
    }
    if (!has_identity_coding(head)) {
        co_return core::upstream_error(errc::card_unrewritable, "the answer is in a content coding");
    }
    if (is_event_stream(head)) {
        if (!call_.card->in_result || call_.verb == net::http1::method::head) {
            co_return core::upstream_error(errc::card_not_json, "the answer is a stream of events");
        }
        co_return co_await edit_events();
    }
    co_return co_await edit_whole();
}

// Status line and fields, without framing and empty line.
std::string relay::answer_head(body_care body)
{
    const auto& head = lease_->parser().head();
    std::string text;
    write_answer_fields(text, head, body);
    if (net::http1::find(head.fields, net::http1::field_name::date) == nullptr) {
        net::http1::head_writer{text}.field("Date", caller_.owner().http_date());
    }
    return text;
}

net::routine<core::result<>> relay::edit_whole()
{
    auto& side = lease_->side();
    const auto& head = lease_->parser().head();
    if (head.body == framing::length && head.content_length > settings_.card_answer) {
        co_return too_large(settings_.card_answer);
    }
    const bool to_head = call_.verb == net::http1::method::head;
    const auto status = head.status;
    const bool keep = head.keep_alive;
    auto as_it_came = answer_head(body_care::passes);
    auto edited = answer_head(body_care::edited);
    remaining_ = head.content_length;
    body_done_ = to_head;
    side.consume(head_length_);
    const auto whole_by = caller_.owner().now() + call_.agent->head_timeout;
    net::budget_share share{caller_.bodies()};
    std::string body;
    while (!body_done_) {
        auto piece = co_await read_text(std::min(whole_by, caller_.owner().now() + settings_.upstream_idle));
        if (!piece) {
            co_return std::move(piece).error();
        }
        if (!*piece) {
            co_return interrupted(woken::late, "body");
        }
        body += **piece;
        if (body.size() + decoder_.chunk_left() > settings_.card_answer) {
            co_return too_large(settings_.card_answer);
        }
        if (!share.set(body.size())) {
            co_return core::gateway_error(errc::overloaded, "bodies");
        }
    }
    finish_connection(keep && request_done_ && !side.writing());
    caller_.clock().stop();
    outcome_.status = status;
    if (to_head) {
        std::string nothing;
        co_return co_await send_whole(std::move(edited), std::move(nothing));
    }
    auto made = co_await edit(std::move(body));
    if (!made) {
        co_return std::move(made).error();
    }
    auto answer = std::move(made->edited ? edited : as_it_came);
    co_return co_await send_whole(std::move(answer), std::move(made->text));
}

net::routine<core::result<>> relay::send_whole(std::string head, std::string body)
{
    auto& text = caller_.scratch();
    text = std::move(head);
    net::http1::head_writer out{text};
    if (!body.empty()) {
        out.field("Content-Length", body.size());
    }
    if (caller_.closing()) {
        out.field("Connection", "close");
    }
    out.end();
    net::pieces pieces;
    pieces.add(text);
    pieces.add(body);
    outcome_.answered = true;
    co_return co_await caller_.send(pieces);
}

net::routine<core::result<model::edited_answer>> relay::edit(std::string text)
{
    model::answered_card what{call_.agent, std::move(text), *call_.card};
    auto& control = *settings_.control;
    auto asked = control.edit(std::move(what));
    co_return co_await net::ask(control.card_executor(), caller_.owner().get_executor(), std::move(asked));
}

// Adds to `text` what `received` holds of the body; gives how much of it that used up.
core::result<std::size_t> relay::take_text(std::string& text, std::string_view received)
{
    const auto how = lease_->parser().head().body;
    if (how == framing::length) {
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(received.size(), remaining_));
        text += received.substr(0, taken);
        remaining_ -= taken;
        body_done_ = remaining_ == 0;
        return taken;
    }
    if (how == framing::until_close) {
        text += received;
        return received.size();
    }
    std::size_t used = 0;
    while (used < received.size() && !body_done_) {
        auto step = decoder_.decode(received.substr(used));
        if (!step) {
            return core::upstream_error(errc::upstream_protocol, "chunk: " + step.error().detail);
        }
        used += step->consumed;
        text += step->data;
        body_done_ = step->finished;
    }
    return used;
}

// The next bytes of the body, or none if it is done. Nothing: they did not come in time.
net::routine<core::result<std::optional<std::string>>> relay::read_text(core::steady_time until)
{
    auto& side = lease_->side();
    for (;;) {
        if (body_broken_) {
            co_return std::move(*body_broken_);
        }
        if (!side.received().empty()) {
            std::string text;
            auto used = take_text(text, side.received());
            if (!used) {
                body_broken_ = std::move(used).error();
                co_return std::move(text);
            }
            side.consume(*used);
            const bool announced = decoder_.chunk_left() > 0;  // which may be too much
            if (!text.empty() || body_done_ || announced) {
                co_return std::move(text);
            }
            continue;
        }
        if (side.ended()) {
            if (lease_->parser().head().body != framing::until_close || side.read_error() != boost::asio::error::eof) {
                co_return upstream_ended();
            }
            body_done_ = true;
            co_return std::string{};
        }
        if (end_stream_) {
            co_return interrupted(woken::ended, "body");
        }
        side.arm();
        const auto how = co_await wait(until);
        if (how == woken::late) {
            co_return std::optional<std::string>{};
        }
        if (how != woken::by_event) {
            co_return interrupted(how, "body");
        }
    }
}

// The caller's answer begins when the first event that says something has been edited, so that until then a failure can
// still be told; from then on each event goes out when it has come.
net::routine<core::result<>> relay::edit_events()
{
    auto& side = lease_->side();
    const auto& head = lease_->parser().head();
    const bool keep = head.keep_alive;
    rechunk_ = caller_.head().minor_version == 1;
    if (!rechunk_) {
        caller_.end_body_with_connection();
    }
    remaining_ = head.content_length;
    outcome_.status = head.status;
    if (!expect_events()) {
        co_return core::gateway_error(errc::overloaded, "streams");
    }
    caller_.scratch() = answer_head(body_care::edited);
    side.consume(head_length_);
    // A card in an event is as long as one elsewhere.
    net::sse_splitter events{std::min(settings_.sse_event, settings_.card_answer)};
    net::budget_share share{caller_.bodies()};
    std::string held;
    auto silent_until = caller_.owner().now() + call_.agent->head_timeout;
    while (!body_done_) {
        const auto comment_due = outcome_.answered ? events_->comment_due() : net::never;
        auto piece = co_await read_text(std::min(silent_until, comment_due));
        if (!piece) {
            co_return std::move(piece).error();
        }
        core::result<> done;
        if (*piece) {
            events.feed(**piece);
            if (!share.set(events.held() + held.size())) {
                co_return core::gateway_error(errc::overloaded, "bodies");
            }
            done = co_await pass_events(events, held);
            if (outcome_.answered) {
                silent_until = caller_.owner().now() + settings_.upstream_idle;
            }
        } else if (comment_due < silent_until) {
            std::string comment{events_->comment()};
            done = co_await send_events(std::move(comment), false);
        } else {
            done = interrupted(woken::late, "body");
        }
        if (!done) {
            co_return done;
        }
    }
    auto sent = co_await send_events(std::move(held), true);
    if (sent) {
        finish_connection(keep && request_done_ && !side.writing());
    }
    co_return sent;
}

// Edits the events that have come whole, and at the end what is left of one. Sends them, or adds them to `held`; what was
// edited before a failure goes out first. Both are of edit_events(), which waits for this.
net::routine<core::result<>> relay::pass_events(net::sse_splitter& events, std::string& held)
{
    bool says_something = outcome_.answered;
    core::result<> done;
    while (done) {
        auto event = events.next();
        if (!event && body_done_) {
            event = events.take_rest();
        }
        if (!event) {
            break;
        }
        if (auto data = net::sse_data(*event)) {
            auto made = co_await edit(std::move(*data));
            if (!made) {
                done = std::move(made).error();
                continue;
            }
            says_something = true;
            if (made->edited) {
                event = net::with_sse_data(*event, made->text);
            }
        }
        held += *event;
    }
    if (done && (events.too_large() || (!says_something && held.size() > settings_.sse_event))) {
        done = core::upstream_error(errc::event_too_large);
    }
    const bool goes_out = !body_done_ || !done;  // else with the last chunk
    if (says_something && !held.empty() && goes_out) {
        auto text = std::move(held);
        held.clear();
        auto sent = co_await send_events(std::move(text), false);
        done = done ? std::move(sent) : std::move(done);
    }
    co_return done;
}

// With the head in front of it, if that has not gone out.
net::routine<core::result<>> relay::send_events(std::string text, bool last)
{
    net::pieces out;
    const bool begins = !outcome_.answered;
    if (begins) {
        auto& head = caller_.scratch();
        net::http1::head_writer writer{head};
        if (rechunk_) {
            writer.field("Transfer-Encoding", "chunked");
        }
        if (caller_.closing()) {
            writer.field("Connection", "close");
        }
        writer.end();
        out.add(head);
    }
    const auto head_size = out.size();
    const bool fits = text.empty() || add_data(out, chunk_headers_[0], text);
    if (!fits && begins && out.size() == head_size) {
        co_return core::upstream_error(errc::event_too_large);
    }
    if (fits && last && rechunk_) {
        out.add(net::http1::last_chunk);
    }
    outcome_.answered = true;
    auto sent = co_await caller_.send(out);
    events_->wrote(caller_.owner().now());
    if (sent && !fits) {
        co_return core::upstream_error(errc::event_too_large);
    }
    co_return sent;
}

}  // namespace gateway::traffic
