#include "gateway/relay/relay.hpp"

#include "gateway/relay/answer_editor.hpp"
#include "gateway/relay/inflight_slot.hpp"
#include "gateway/relay/side_requests.hpp"
#include "gateway/relay/token_renewal.hpp"
#include "gateway/responses/answer.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gateway::relay {
namespace {

using core::errc;
using net::http1::framing;
using net::http1::method;

// The length of the body in the head that goes out.
std::optional<std::uint64_t> told_length(const net::http1::response_head& head, method verb) noexcept
{
    const bool told = head.body == framing::length ||
                      (head.body == framing::none && head.status != 204 && head.status != 304 && verb != method::head);
    return told ? std::optional{head.content_length} : std::nullopt;
}

constexpr core::duration longest_peek{1'000};

// The body, if it comes whole within so many bytes and soon; else empty. It stays to be read.
net::routine<std::string>
peek_body(net::caller_exchange& caller, agent_exchange& agent, exchange_wait& wait, std::size_t limit)
{
    const auto until = caller.owner().now() + longest_peek;
    auto& side = agent.side();
    std::string body;
    auto how = woken::by_event;
    while (how == woken::by_event) {
        const auto piece = side.take();
        if (!piece || piece->size() > limit - body.size()) {
            break;
        }
        body += *piece;
        if (side.body_done()) {
            side.rewind();
            co_return body;
        }
        if (!piece->empty()) {
            continue;
        }
        // The head is read in place, so that the buffer cannot grow.
        if (side.ended() || side.full()) {
            break;
        }
        side.arm();
        how = co_await wait.until(until);
    }
    side.rewind();
    co_return std::string{};
}

// After agent_exchange::begin() of `agent`, for a call whose repair has an interest in the answer. Nothing: it has none.
std::optional<std::size_t> interest_in(const agent_exchange& agent, call_repair& repair)
{
    repair.note_answer(agent.head());
    return repair.interest(agent.head());
}

// With that interest: sends the call again as often as that helps. The last answer stays to be read. Fails as the repair does, and as
// agent_exchange::begin(). References outlive the routine.
[[gnu::noinline]] net::routine<core::result<>> repair_call(
    net::caller_exchange& caller,
    agent_exchange& agent,
    exchange_wait& wait,
    relay_call& call,
    std::optional<std::size_t> wanted
)
{
    for (; wanted; wanted = interest_in(agent, *call.hooks.repair)) {
        std::string body;
        if (*wanted > 0) {
            body = co_await peek_body(caller, agent, wait, *wanted);
        }
        const auto again = co_await call.hooks.repair->repair(call, agent, agent.head(), std::move(body));
        if (!again) {
            co_return again.error();
        }
        if (!*again) {
            co_return core::result<>{};
        }
        agent.discard();
        auto done = co_await agent.begin();
        if (!done) {
            co_return done;
        }
    }
    co_return core::result<>{};
}

// No part of pass_body(), whose frame would have room for the part for as long as a stream is silent.
[[gnu::noinline]] std::optional<core::result<>> begin_write(net::caller_exchange& caller, answer_writer& writer)
{
    return caller.begin_send(writer.take());
}

net::routine<core::result<>> ended(core::result<> how)
{
    co_return how;
}

}  // namespace

void tell_refused(const relay_call& call)
{
    for (auto& each : call.hooks.gate->take_refused()) {
        call.hooks.repair->refuse(call, std::move(each));
    }
}

relay::relay(net::caller_exchange& caller, net::upstream_pool& pool, const relay_settings& settings, relay_call& call)
    : caller_{caller},
      settings_{settings},
      call_{call},
      wait_{caller, call_.traits.streaming},
      agent_{caller, pool, wait_, settings_, call_},
      tasks_{caller, settings_, call_},
      writer_{caller, tasks_},
      early_{*this, caller, writer_, settings_, call_},
      held_{caller.bodies()}
{
    agent_.set_early(early_);
}

relay::~relay()
{
    if (announced_ || early_.begun()) {
        settings_.streams.end();
    }
}

// A call from its sending to its account.
net::routine<> relay::run()
{
    core::result<> done;
    for (bool again = true, renews = true; again;) {
        done = co_await agent_.begin();
        // mcp_repair does so itself; an answer of another replica is for the caller.
        again = done && !call_.agent->record.mcp && !call_.traits.forwarded && redirects_.follow(call_, agent_);
        if (done && !again && renews && may_renew_token()) {
            renews = false;
            auto renewed = co_await renew_token(settings_.control, caller_, call_);
            again = renewed && *renewed;
            if (again) {
                agent_.discard();
            } else if (!renewed) {
                done = std::move(renewed).error();
            }
        }
    }
    if (done && call_.hooks.repair != nullptr) {
        if (const auto wanted = interest_in(agent_, *call_.hooks.repair)) {
            done = co_await repair_call(caller_, agent_, wait_, call_, wanted);
        }
    }
    headed_ = true;
    if (done && call_.traits.whole && is_event_stream(agent_.head())) {
        writer_.keep_answers(settings_.limits.sse_event, call_.traits.gathers, *call_.hooks.gate);
    }
    if (early_.begun()) {
        outcome_.status = 200;
        outcome_.stream = model::stream_end::complete;
    }
    if (done) {
        outcome_.status = early_.begun() ? 200 : agent_.head().status;
        outcome_.first_byte = agent_.first_byte();
        if (early_.begun() || early_.wraps(agent_.head())) {
            done = co_await pass_early();
        } else if (!call_.hooks.edits.empty()) {
            done = co_await edit_answer();
        } else if (call_.traits.messages) {
            done = co_await pass_messages();
        } else {
            done = co_await pass_answer();
        }
        if (done && writer_.keeps_answers() && !writer_.begun()) {
            done = core::upstream_error(errc::upstream_protocol, "the stream of events ended without an answer");
        }
    }
    if (!done) {
        co_await fail(std::move(done).error());
    }
    caller_.clock().stop();
    outcome_.answered = writer_.begun();
    if (!call_.hooks.edits.empty()) {
        call_.hooks.edits.front()->note(outcome_);
    }
}

net::routine<> relay::fail(core::error why)
{
    agent_.discard();
    if (why.code == errc::upstream_timeout && call_.hooks.repair != nullptr) {
        call_.hooks.repair->gave_up(call_);
    }
    if (wait_.ended()) {
        why = interrupted(woken::ended, "body");
    }
    if (call_.hooks.repair != nullptr) {
        const bool late = call_.deadline.asked_and_over(caller_.owner().now());
        why = call_.hooks.repair->told_as(std::move(why), late || agent_.connected());
    }
    if (outcome_.stream) {
        outcome_.stream = model::end_of_stream(why);
        auto told = why;
        co_await tell_failure(std::move(told));
    }
    outcome_.failure = std::move(why);
}

bool relay::may_renew_token() const noexcept
{
    return agent_.counted_status() == 401 && (call_.token || !call_.agent->token.empty()) && !call_.request.passed;
}

void relay::end_listening()
{
    if (!call_.traits.listens) {
        return;
    }
    wait_.end_in_order(/*at_once=*/!headed_);
}

bool relay::contain(bool at_once)
{
    contained_ = true;
    if (!at_once && outcome_.stream && writer_.within_event()) {
        wait_.end_in_order(/*at_once=*/false);
        return false;
    }
    agent_.sever();
    if (writer_.begun()) {
        caller_.hurry();
    }
    caller_.interrupt();
    return true;
}

net::routine<bool> relay::end_with(std::string event)
{
    if (!writer_.takes_end()) {
        co_return false;
    }
    writer_.add_event(event);
    writer_.add_end();
    const auto sent = co_await caller_.send(writer_.take());
    co_return sent.has_value();
}

// Whether the caller gets this answer, before anything of it goes out. `edited`: what an edit makes of it. That of an A2A call
// refuses a page itself.
core::result<> relay::accept_answer(bool edited)
{
    const auto& head = agent_.head();
    core::result<> accepted;
    if (call_.hooks.repair != nullptr) {
        accepted = call_.hooks.repair->accept(head);
    }
    const bool of_server = call_.hooks.gate != nullptr;
    if (accepted && !call_.traits.opaque && (!edited || of_server) && is_page(head)) {
        accepted = core::upstream_error(errc::upstream_status, "an HTML page, status " + std::to_string(head.status));
    }
    if (accepted && of_server && is_event_stream(head) && !has_identity_coding(head)) {
        accepted =
            core::upstream_error(errc::upstream_protocol, "events in a content coding, which nobody has asked for");
    }
    if (!accepted && accepted.error().code == errc::upstream_status) {
        outcome_.refused = replaced_answer{head.status, told_fields(head)};
    }
    return accepted;
}

// No routine of its own: a stream keeps the frame of pass_body() alone.
net::routine<core::result<>> relay::pass_answer()
{
    if (call_.hooks.repair != nullptr && call_.hooks.repair->replaces(agent_.head())) {
        outcome_.replaced = true;
        agent_.discard();
        return ended(core::result<>{});
    }
    const auto& head = agent_.head();
    const bool reads = call_.request.verb == method::get || call_.request.verb == method::head;
    if (head.status >= 300 && head.status < 400 && !(head.status == 304 && reads) && !call_.traits.forwarded) {
        // Its Location would lead the caller past the gateway.
        return ended(core::upstream_error(errc::upstream_status, unfollowed_redirect(call_, head)));
    }
    if (auto accepted = accept_answer(/*edited=*/false); !accepted) {
        return ended(accepted);
    }
    const bool done = agent_.side().body_done();
    // Events may be missing then, or come first.
    const bool gated = call_.hooks.gate != nullptr && is_event_stream(head) && !done;
    if (gated || (!done && head.body != framing::length)) {
        writer_.leave_length_open();
    }
    if (!expect_events()) {
        return ended(core::gateway_error(errc::overloaded, "streams, of all or of this principal"));
    }
    writer_.write_fields(caller_.scratch(), head, body_care::passes, answered_by(call_), call_.extensions_as);
    if (call_.hooks.repair != nullptr) {
        call_.hooks.repair->add_head_fields(caller_.scratch());
    }
    writer_.add_head(gated ? std::nullopt : told_length(head, call_.request.verb));
    if (gated) {
        writer_.add_event(call_.hooks.repair->first_events());
    }
    agent_.side().consume_head();
    if (head.body == framing::length && head.content_length > net::small_block) {
        agent_.side().widen();
    }
    if (outcome_.stream && agent_.request_done()) {
        caller_.release_request();
    }
    return pass_body();
}

// No routine of its own either. Messages of gRPC as they come. The caller's side knows how they end.
net::routine<core::result<>> relay::pass_messages()
{
    if (auto accepted = accept_answer(/*edited=*/false); !accepted) {
        return ended(accepted);
    }
    writer_.leave_length_open();
    core::duration keep_alive{};
    if (call_.traits.streaming && !agent_.side().body_done()) {
        announced_ = settings_.streams.begin(*this);
        if (!announced_) {
            return ended(core::gateway_error(errc::overloaded, "streams, of all or of this principal"));
        }
        outcome_.stream = model::stream_end::complete;
        note_stream(call_.slot);
        wait_.expect_stream();
        keep_alive = settings_.timeouts.stream_keep_alive;
    }
    writer_.expect_messages(keep_alive);
    writer_.write_fields(caller_.scratch(), agent_.head(), body_care::passes, answer_of::agent, call_.extensions_as);
    if (call_.hooks.tasks.must_read() && call_.hooks.show_messages) {
        call_.hooks.show_messages([this](std::string_view json) { tasks_.see_message(json); });
    }
    writer_.add_head(std::nullopt);
    call_.request.set_head({});
    agent_.side().consume_head();
    if (outcome_.stream && agent_.request_done()) {
        caller_.release_request();
    }
    return pass_body();
}

// Passes an answer before which the caller has got events, or that becomes one.
net::routine<core::result<>> relay::pass_early()
{
    const auto& head = agent_.head();
    if (auto accepted = accept_answer(/*edited=*/false); !accepted) {
        co_return accepted;
    }
    if (auto begun = co_await early_.begin(head); !begun) {
        co_return begun;
    }
    outcome_.stream = model::stream_end::complete;
    if (is_event_stream(head)) {
        note_stream(call_.slot);
        writer_.set_gate(call_.hooks.gate);
    }
    if (!call_.hooks.edits.empty()) {
        co_return co_await edit_body();
    }
    agent_.side().consume_head();
    co_return co_await pass_body();
}

// With all that has to be known of the answer said.
net::routine<core::result<>> relay::edit_body()
{
    const bool events = is_event_stream(agent_.head());
    side_requests beside{caller_, agent_, wait_};
    call_.hooks.edits.front()->begin(agent_.head(), events, beside);
    answer_editor editor{caller_, agent_, wait_, writer_, call_.hooks.edits};
    if (!events) {
        co_return co_await editor.edit_whole();
    }
    co_return co_await editor.edit_events();
}

// Between two events a caller can be told of a failure in a stream, if it is one that leaves nothing to resume; and a stream that
// listens ends in order.
net::routine<> relay::tell_failure(core::error why)
{
    if (contained_) {
        co_return;  // end_with()
    }
    const bool in_order = wait_.ends_in_order() && why.code == errc::draining;
    const bool final = why.code == errc::upstream_timeout || (early_.begun() && why.code != errc::draining);
    if (!(final || in_order) || why.from == core::side::caller || call_.hooks.repair == nullptr || !writer_.begun() ||
        !writer_.between_events()) {
        co_return;
    }
    auto text = in_order ? call_.hooks.repair->end_text() : call_.hooks.repair->failure_text(why);
    if (text.empty() && !in_order) {
        co_return;
    }
    if (outcome_.refused) {
        responses::add_upstream_status(text, outcome_.refused->status);
    }
    text = text.empty() ? std::string{} : "data: " + text + "\n\n";
    writer_.add_event(text);
    writer_.add_end();
    const auto sent = co_await caller_.send(writer_.take());
    outcome_.told = sent.has_value();
}

// With the answer's framing known, which decides whether comments can be put in. False: one stream too many.
bool relay::expect_events()
{
    const auto& head = agent_.head();
    if (!is_event_stream(head) || writer_.keeps_answers()) {
        return true;
    }
    announced_ = settings_.streams.begin(*this);
    if (!announced_) {
        return false;
    }
    outcome_.stream = model::stream_end::complete;
    note_stream(call_.slot);
    wait_.expect_stream();
    if (has_identity_coding(head)) {
        const bool told = head.body == framing::length && call_.hooks.gate == nullptr;
        const auto keep_alive = told ? core::duration{} : settings_.timeouts.stream_keep_alive;
        writer_.expect_events(settings_.limits.sse_event, keep_alive);
        writer_.set_gate(call_.hooks.gate);
    }
    return true;
}

// Messages that the gate holds are part of what callers' bodies may take; the agent hears which were refused. False: there is no room.
bool relay::settle_gate()
{
    tell_refused(call_);
    return held_.set(call_.hooks.gate->held() + writer_.kept());
}

// Adds what has come of the body, and its end. An error: nothing more of it can be passed on but what was added.
core::result<> relay::add_body()
{
    auto& side = agent_.side();
    while (writer_.has_room() && !side.body_done()) {
        auto piece = side.take();
        if (!piece) {
            return std::move(piece).error();
        }
        if (piece->empty()) {
            break;
        }
        const bool added = writer_.add(contained_ ? piece->substr(0, writer_.rest_of_event(*piece)) : *piece);
        if (call_.hooks.gate != nullptr && !settle_gate()) {
            return core::gateway_error(errc::overloaded, "bodies");
        }
        if (!added) {
            return core::upstream_error(errc::event_too_large);
        }
        if (contained_ && !writer_.within_event()) {
            return {};
        }
    }
    if (side.body_done() || writer_.has_answer()) {
        writer_.add_end(call_.traits.messages ? side.trailers() : std::string_view{});
    }
    return {};
}

net::routine<core::result<>> relay::pass_body()
{
    auto& side = agent_.side();
    const auto silence =
        call_.times.silence > core::duration{} ? call_.times.silence : settings_.timeouts.upstream_idle;
    auto silent_until = std::min(caller_.owner().now() + silence, agent_.answer_due());
    auto come = side.bytes_in();
    for (;;) {
        if (wait_.ended() && !writer_.begun()) {
            co_return interrupted(woken::ended, "body");
        }
        const auto head_size = writer_.pending();
        auto added = add_body();
        if (!added && !writer_.begun() && (!outcome_.stream || writer_.pending() == head_size)) {
            co_return added;  // the caller can still be told
        }
        const bool whole = side.body_done();  // its end may come while the caller is waited for
        if (writer_.pending() > 0) {
            auto sent = begin_write(caller_, writer_);
            if (!sent) {
                sent = co_await caller_.end_send();
            }
            if (!*sent) {
                co_return std::move(*sent);
            }
            wait_.caller_took_piece();
            writer_.wrote();
        }
        if (!added) {
            co_return added;
        }
        if (contained_ && !writer_.within_event()) {
            co_return interrupted(woken::ended, "body");
        }
        side.release();
        if (whole || writer_.is_over()) {
            agent_.give_back(whole);
            co_return core::result<>{};
        }
        if (wait_.ended()) {
            co_return interrupted(woken::ended, "body");
        }
        if (!side.ready()) {
            if (wait_.ends_in_order() && writer_.between_events()) {
                co_return interrupted(woken::ended, "body");
            }
            if (std::exchange(come, side.bytes_in()) != side.bytes_in()) {
                silent_until = std::min(caller_.owner().now() + silence, agent_.answer_due());
            }
            if (auto more = agent_.pass_more(); !more) {
                co_return more;
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

net::routine<core::result<>> relay::edit_answer()
{
    const auto& terms = call_.hooks.edits.front()->on();
    const auto& head = agent_.head();
    if (head.status == 304) {
        // The request had no condition.
        co_return core::upstream_error(errc::upstream_status, "status 304");
    }
    const bool redirects = head.status >= 300 && head.status < 400;
    const bool as_it_is = head.status >= 300 || (is_empty(head) && call_.request.verb != method::head);
    if (terms.every ? redirects : as_it_is) {
        co_return co_await pass_answer();
    }
    if (!has_identity_coding(head)) {
        co_return core::upstream_error(terms.unreadable, "the answer is in a content coding");
    }
    if (auto accepted = accept_answer(/*edited=*/true); !accepted) {
        co_return accepted;
    }
    if (is_event_stream(head)) {
        if (!terms.events || call_.request.verb == method::head) {
            co_return core::upstream_error(terms.unexpected, "the answer is a stream of events");
        }
        writer_.leave_length_open();
        if (!expect_events()) {
            co_return core::gateway_error(errc::overloaded, "streams, of all or of this principal");
        }
    }
    co_return co_await edit_body();
}

}  // namespace gateway::relay
