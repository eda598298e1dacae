#include "gateway/traffic/relay.hpp"

#include "gateway/model/control_services.hpp"
#include "gateway/model/endpoint_entries.hpp"
#include "gateway/traffic/answer_editor.hpp"
#include "gateway/traffic/answer_peek.hpp"
#include "gateway/traffic/call_place.hpp"
#include "gateway/traffic/caller_tokens.hpp"
#include "gateway/traffic/side_requests.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::framing;
using net::http1::method;

// What the head that goes out says of the body's length.
std::optional<std::uint64_t> told_length(const net::http1::response_head& head, method verb) noexcept
{
    const bool told = head.body == framing::length ||
                      (head.body == framing::none && head.status != 204 && head.status != 304 && verb != method::head);
    return told ? std::optional{head.content_length} : std::nullopt;
}

}  // namespace

relay::relay(net::server_connection& caller, net::upstream_pool& pool, relay_settings settings, relay_call call)
    : caller_{caller},
      settings_{settings},
      call_{std::move(call)},
      wait_{caller, call_.streaming},
      agent_{caller, pool, wait_, settings_, call_},
      tasks_{caller, settings_, call_},
      writer_{caller, tasks_},
      early_{*this, caller, writer_, settings_, call_}
{
    agent_.set_watch(early_);
}

relay::~relay()
{
    if (announced_ || early_.begun()) {
        settings_.observer.stream_ended();
    }
}

net::routine<relay_outcome> relay::run()
{
    auto done = co_await agent_.begin();
    if (done && may_renew_token()) {
        const auto begun = caller_.owner().now();
        const auto renewed = co_await renew_token();
        if (!renewed) {
            done = renewed.error();
        } else if (*renewed) {
            call_.deadline.put_off(caller_.owner().now() - begun);
            agent_.discard();
            done = co_await agent_.begin();
        }
    }
    if (done && call_.repair != nullptr) {
        done = co_await repair();
    }
    if (early_.begun()) {
        outcome_.status = 200;
        outcome_.stream = model::stream_end::complete;
    }
    if (done) {
        outcome_.status = early_.begun() ? 200 : agent_.head().status;
        outcome_.first_byte = agent_.first_byte();
        if (early_.begun()) {
            done = co_await pass_early();
        } else if (call_.edit != nullptr) {
            done = co_await edit_answer(*call_.edit);
        } else {
            done = co_await pass_answer();
        }
    }
    if (!done) {
        agent_.discard();
        if (done.error().code == errc::upstream_timeout && call_.repair != nullptr) {
            call_.repair->gave_up(call_);
        }
        if (wait_.ended()) {
            done = interrupted(woken::ended, "body");
        }
        if (outcome_.stream) {
            outcome_.stream = model::end_of_stream(done.error());
            auto why = done.error();
            co_await tell_failure(std::move(why));
        }
        outcome_.failure = std::move(done).error();
    }
    caller_.clock().stop();
    outcome_.answered = writer_.begun();
    co_return std::move(outcome_);
}

bool relay::may_renew_token() const noexcept
{
    const bool has_token = call_.token || !call_.agent->token.empty();
    return agent_.head().status == 401 && has_token && !call_.passed;
}

// An agent that answers 401 has not done what it was asked for (RFC 9110 section 15.5.2): with another token it is asked
// once more. False: there is no other, and the caller gets the answer.
net::routine<core::result<bool>> relay::renew_token()
{
    if (call_.token) {
        // Not const: a const result<bool> is returned as the bool that says whether it has a value.
        auto renewed = co_await renew_caller_token(settings_.control, caller_, call_);
        if (renewed && *renewed) {
            const auto old_line = call_.head.rfind("\r\n", call_.head.size() - 3) + 2;
            renewed_head_ = std::string{call_.head.substr(0, old_line)} + token_line(call_.token->text);
            call_.head = renewed_head_;
        }
        co_return renewed;
    }
    auto asked = settings_.control.agent_with_token(call_.agent->record.id, call_.agent->token);
    const auto entry =
        co_await net::ask_until(caller_, call_.deadline.due, settings_.control.executor(), std::move(asked));
    if (!entry) {
        co_return no_other_token(caller_, call_);
    }
    const bool same = *entry != nullptr && (*entry)->record == call_.agent->record;
    if (same) {
        call_.agent = model::endpoint_of(*entry, call_.agent->number);
        renewed_head_ = head_with_token(call_.head, *call_.agent);
        call_.head = renewed_head_;
    }
    co_return same;
}

// Sends the call again as often as that helps.
net::routine<core::result<>> relay::repair()
{
    for (;;) {
        const auto wanted = call_.repair->interest(agent_.head());
        if (!wanted) {
            co_return core::result<>{};
        }
        std::string body;
        if (*wanted > 0) {
            body = co_await peek_body(caller_, agent_, wait_, *wanted);
        }
        const auto again = co_await call_.repair->repair(call_, agent_, agent_.head(), std::move(body));
        if (!again) {
            co_return again.error();
        }
        if (!*again) {
            co_return core::result<>{};
        }
        agent_.discard();
        auto done = co_await agent_.begin();
        if (!done) {
            co_return done;
        }
    }
}

core::result<> relay::accept_head() const
{
    return call_.terms == nullptr ? core::result<>{} : call_.terms->accept(agent_.head());
}

net::routine<core::result<>> relay::pass_answer()
{
    if (call_.terms != nullptr && call_.terms->replaces(agent_.head())) {
        outcome_.replaced = true;
        agent_.discard();
        co_return core::result<>{};
    }
    const auto& head = agent_.head();
    const bool reads = call_.verb == method::get || call_.verb == method::head;
    if (head.status >= 300 && head.status < 400 && !(head.status == 304 && reads)) {
        // Its Location would lead the caller past the gateway, and nothing of A2A needs it.
        co_return core::upstream_error(errc::upstream_status, "status " + std::to_string(head.status));
    }
    if (auto accepted = accept_head(); !accepted) {
        co_return accepted;
    }
    body_ = {head.body, head.content_length};
    if (!body_.done() && head.body != framing::length) {
        writer_.leave_length_open();
    }
    if (!expect_events()) {
        co_return core::gateway_error(errc::overloaded, "streams, of all or of this principal");
    }
    writer_.write_fields(caller_.scratch(), head, body_care::passes, answered_by(call_), call_.extensions.to_caller);
    if (call_.terms != nullptr) {
        call_.terms->add_fields(caller_.scratch());
    }
    writer_.add_head(told_length(head, call_.verb));
    agent_.consume_head();
    if (head.body == framing::length && head.content_length > net::small_block) {
        agent_.side().reserve(net::large_block);
    }
    if (outcome_.stream && agent_.request_done()) {
        caller_.release_request();
    }
    co_return co_await pass_body();
}

// Of an answer before which the caller has got events.
net::routine<core::result<>> relay::pass_early()
{
    const auto& head = agent_.head();
    if (auto accepted = accept_head(); !accepted) {
        co_return accepted;
    }
    auto adopted = early_.adopt(head);
    if (!adopted) {
        co_return adopted;
    }
    if (is_event_stream(head)) {
        note_stream(call_.place);
    }
    if (call_.edit != nullptr) {
        co_return co_await edit_body(*call_.edit);
    }
    body_ = {head.body, head.content_length};
    agent_.consume_head();
    co_return co_await pass_body();
}

// With all that has to be known of the answer said.
net::routine<core::result<>> relay::edit_body(answer_edit& edit)
{
    const bool events = is_event_stream(agent_.head());
    side_requests beside{caller_, agent_, wait_};
    edit.begin(agent_.head(), events, beside);
    answer_editor editor{caller_, agent_, wait_, writer_, edit};
    if (!events) {
        co_return co_await editor.edit_whole();
    }
    co_return co_await editor.edit_events();
}

// Between two events a caller can be told of a failure in a stream, if it is one that leaves nothing to resume.
net::routine<> relay::tell_failure(core::error why)
{
    const bool final = why.code == errc::upstream_timeout || (early_.begun() && why.code != errc::draining);
    if (!final || why.from == core::side::caller || call_.repair == nullptr || !writer_.between_events()) {
        co_return;
    }
    auto text = call_.repair->failure_text(why);
    if (text.empty()) {
        co_return;
    }
    text = "data: " + text + "\n\n";
    writer_.add_event(text);
    writer_.add_end();
    const auto sent = co_await caller_.send(writer_.take());
    outcome_.told = sent.has_value();
}

// With the answer's framing known, which decides whether comments can be put in. False: one stream too many.
bool relay::expect_events()
{
    const auto& head = agent_.head();
    if (!is_event_stream(head)) {
        return true;
    }
    announced_ = settings_.observer.stream_began(*this);
    if (!announced_) {
        return false;
    }
    outcome_.stream = model::stream_end::complete;
    note_stream(call_.place);
    wait_.expect_stream();
    if (has_identity_coding(head)) {
        const auto keep_alive = head.body == framing::length ? core::duration{} : settings_.timeouts.stream_keep_alive;
        writer_.expect_events(settings_.limits.sse_event, keep_alive);
    }
    return true;
}

// Adds what has come of the body, and its end; gives how many received bytes that used up. An error: nothing more of it
// can be passed on but what was added.
core::result<std::size_t> relay::add_body()
{
    auto& side = agent_.side();
    const auto received = side.received();
    std::size_t used = 0;
    if (body_.done()) {
        return used;
    }
    while (used < received.size() && writer_.has_room() && !body_.done()) {
        auto piece = body_.take(received.substr(used));
        if (!piece) {
            return std::move(piece).error();
        }
        if (!writer_.add(piece->data)) {
            return core::upstream_error(errc::event_too_large);
        }
        used += piece->used;
    }
    if (received.empty() && side.ended()) {
        auto ended = body_.end(side.read_error());
        if (!ended) {
            return std::move(ended).error();
        }
    }
    if (body_.done()) {
        writer_.add_end();
    }
    return used;
}

net::routine<core::result<>> relay::pass_body()
{
    auto& side = agent_.side();
    const auto silence = call_.silence > core::duration{} ? call_.silence : settings_.timeouts.upstream_idle;
    auto silent_until = std::min(caller_.owner().now() + silence, agent_.answer_due());
    for (;;) {
        if (wait_.ended() && !writer_.begun()) {
            co_return interrupted(woken::ended, "body");
        }
        const auto head_size = writer_.pending();
        auto used = add_body();
        if (!used && !writer_.begun() && (!outcome_.stream || writer_.pending() == head_size)) {
            co_return std::move(used).error();  // the caller can still be told
        }
        if (writer_.pending() > 0) {
            auto sent = caller_.try_send(writer_.take());
            if (!sent) {
                sent = co_await caller_.finish_send();
            }
            if (!*sent) {
                co_return std::move(*sent);
            }
            wait_.caller_took_piece();
            writer_.wrote();
        }
        if (!used) {
            co_return std::move(used).error();
        }
        side.consume(*used);
        if (body_.done()) {
            agent_.give_back();
            co_return core::result<>{};
        }
        if (wait_.ended()) {
            co_return interrupted(woken::ended, "body");
        }
        if (side.received().empty() && !side.ended()) {
            if (*used > 0) {
                silent_until = std::min(caller_.owner().now() + silence, agent_.answer_due());
            }
            const auto comment_due = writer_.comment_due();
            side.arm();
            const auto how = co_await wait_.until(std::min(silent_until, comment_due));
            if (how == woken::late && comment_due < silent_until) {
                writer_.add_comment();
            } else if (how != woken::by_event) {
                co_return interrupted(how, "body");
            }
        }
    }
}

net::routine<core::result<>> relay::edit_answer(answer_edit& edit)
{
    const auto& head = agent_.head();
    if (head.status == 304) {
        // The request had no condition.
        co_return core::upstream_error(errc::upstream_status, "status 304");
    }
    const bool empty = head.body == framing::none || (head.body == framing::length && head.content_length == 0);
    const bool redirects = head.status >= 300 && head.status < 400;
    const bool as_it_is = head.status >= 300 || (empty && call_.verb != method::head);
    if (edit.on().every ? redirects : as_it_is) {
        co_return co_await pass_answer();
    }
    if (!has_identity_coding(head)) {
        co_return core::upstream_error(edit.on().unreadable, "the answer is in a content coding");
    }
    if (auto accepted = accept_head(); !accepted) {
        co_return accepted;
    }
    if (is_event_stream(head)) {
        if (!edit.on().events || call_.verb == method::head) {
            co_return core::upstream_error(edit.on().unexpected, "the answer is a stream of events");
        }
        writer_.leave_length_open();
        if (!expect_events()) {
            co_return core::gateway_error(errc::overloaded, "streams, of all or of this principal");
        }
    }
    co_return co_await edit_body(edit);
}

}  // namespace gateway::traffic
