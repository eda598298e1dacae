// The messages of a session: probe, handshake, pings, answers, and how each can fail.
#include "mcp/protocol/server_facts.hpp"
#include "mcp/session/session_runner.hpp"

#include <chrono>
#include <utility>

namespace mcp {
namespace {

using core::errc;

session_event event_of(event_kind kind, const connection& about)
{
    session_event event;
    event.kind = kind;
    event.of = about.number;
    return event;
}

// Without a token a handshake is not sent; a session that stands can wait for one.
bool is_unreachable(errc code, purpose use) noexcept
{
    const bool no_token = code == errc::upstream_credentials && use == purpose::handshake;
    return no_token || code == errc::upstream_refused || code == errc::upstream_unresolved ||
           code == errc::upstream_tls || code == errc::upstream_proxy;
}

}  // namespace

// Each call may end the connection, or let go of the runner.
class session_runner::ear final : public transport_observer {
public:
    ear(session_runner& to, connection& of)
        : to_{to},
          of_{of}
    {
    }

private:
    void connected() override { to_.connected(of_); }
    void received(std::string_view text) override
    {
        to_.hear_each(of_, messages_in(text, to_.context_.state.version()));
    }
    void received_long(const read_text& what) override { to_.hear_each(of_, what.parts(to_.context_.state.version())); }
    void refused(std::string_view beginning, std::size_t limit) override
    {
        to_.hear(of_, to_.intake_.accept_too_long(of_, beginning, limit));
    }
    void failed(std::uint64_t request, core::error why, std::optional<era> says) override
    {
        to_.fail(of_, request, why, says);
    }
    void session_lost() override { to_.happened({.kind = event_kind::session_lost}); }
    void stream_changed(stream_news news) override
    {
        to_.happened(
            {.kind = news == stream_news::stands ? event_kind::stream_up
                     : news == stream_news::none ? event_kind::stream_none
                                                 : event_kind::stream_down}
        );
    }
    void lost(core::error why) override { to_.lose(of_, why); }
    void closed() override
    {
        auto event = event_of(event_kind::closed, of_);
        if (to_.connections_.take_end(of_)) {
            to_.happened(std::move(event));
        }
    }

    session_runner& to_;
    connection& of_;
};

std::unique_ptr<transport_observer> session_runner::observe(connection& of)
{
    return std::make_unique<ear>(*this, of);
}

// Ends what is under way on the session's connection.
void session_runner::forget()
{
    requests_.forget();
    walks_.forget();
}

void session_runner::connected(connection& from)
{
    from.connected = true;
    from.probe ? ask_for_era(from) : happened(event_of(event_kind::connected, from));
}

void session_runner::ask_for_era(connection& probe)
{
    const dialect modern{std::string{mcp::latest(era::modern)}, context_.settings.client};
    probe.question = requests_.next_id();
    handshake_.record_probe({});
    probe.asked_at = std::chrono::steady_clock::now();
    if (!probe.wire->send({discover_request(probe.question, modern), probe.question, "server/discover"})) {
        tell_era(probe, std::nullopt, false);
    }
}

void session_runner::tell_era(const connection& probe, std::optional<era> verdict, bool stands)
{
    auto event = event_of(event_kind::era_probed, probe);
    event.verdict = verdict;
    event.stands = stands;
    happened(std::move(event));
}

void session_runner::shake_hands(const session_action& action)
{
    forget();
    if (auto event = handshake_.send(action)) {
        happened(std::move(*event));
    }
}

void session_runner::open_stream()
{
    outgoing listen;
    if (handshake_.speaks().modern()) {
        const auto& announces = walks_.server().announces;
        if (announces.none()) {
            return;
        }
        requests_.end_all(purpose::listen);
        const auto id = requests_.begin(purpose::listen);
        listen = {listen_request(id, announces, handshake_.speaks()), id, "subscriptions/listen"};
    }
    if (auto* const current = connections_.current()) {
        current->wire->open_stream(std::move(listen));
    }
}

// A server that does one thing after the other answers no ping during a call.
void session_runner::ping()
{
    if (context_.lane.is_busy(std::chrono::steady_clock::now(), context_.settings.call_timeout)) {
        return happened({.kind = event_kind::ping_answered});
    }
    last_ping_ = requests_.begin(purpose::ping);
    requests_.send(
        {ping_request(last_ping_, handshake_.speaks()),
         last_ping_,
         handshake_.speaks().modern() ? "server/discover" : "ping"}
    );
}

// The ping may be answered late; one that was missed long ago is not waited for any more.
void session_runner::cancel_ping()
{
    if (requests_.waits(last_ping_)) {
        requests_.cancel(last_ping_);
    }
    requests_.keep_latest(purpose::ping, context_.settings.states.ping_misses);
}

template <class Messages>
void session_runner::hear_each(connection& from, const Messages& messages)
{
    const auto kept = shared_from_this();
    for (const auto& each : messages) {
        if (!connections_.has(&from)) {
            return;  // an earlier message has ended it
        }
        hear(from, intake_.accept(from, each));
    }
}

void session_runner::hear(connection& from, const message_intake::outcome& said)
{
    const auto kept = shared_from_this();
    for (const auto each : said.bad) {
        if (from.probe || connections_.current() == &from) {
            fail(from, each, said.why, said.says);
        }
    }
    if (!said.heard) {
        return;
    }
    if (from.probe) {
        return accept_from_probe(from, said);
    }
    switch (said.heard->kind) {
        case message_kind::request:
            return requests_.send({answer_to(*said.heard), 0, {}});
        case message_kind::notification:
            return accept_notification(*said.heard);
        case message_kind::result:
        case message_kind::failure:
            return accept_answer(said);
    }
}

void session_runner::accept_from_probe(connection& probe, const message_intake::outcome& said)
{
    if (said.answered != std::optional{probe.question}) {
        return;
    }
    const auto& answer = *said.heard;
    const auto verdict = era_of_answer(answer);
    if (verdict == era::modern && answer.kind == message_kind::result) {
        probe.discovered = answer.result;
    }
    tell_era(probe, verdict, true);
}

void session_runner::accept_notification(const message& notification)
{
    if (notification.method == "notifications/subscriptions/acknowledged") {
        happened({.kind = event_kind::stream_up});
    } else if (walks_.note(notification.method)) {
        happened({.kind = event_kind::list_changed});
    }
}

void session_runner::accept_answer(const message_intake::outcome& said)
{
    const auto& answer = *said.heard;
    const auto use = said.answered ? requests_.take(*said.answered) : std::nullopt;
    if (!use) {
        return;  // late, or to nothing that was asked
    }
    const bool good = answer.kind == message_kind::result;
    const auto moved = other_era(answer, handshake_.spoken());
    if (moved && believes_move(*use)) {
        return leave_era(*use, *moved, context_.notes.shown(answer.failure.text));
    }
    switch (*use) {
        case purpose::handshake:
            context_.notes.set_needs_operator(false);
            return happened(
                good ? handshake_.accept(answer.result)
                     : handshake_.refuse(context_.notes.shown(answer.failure.text), moved)
            );
        case purpose::ping:
            return accept_pong(answer);
        case purpose::listen:
            return happened({.kind = good ? event_kind::stream_down : event_kind::stream_none});
        case purpose::list:
        case purpose::look:
            return walks_.accept(*use, answer, said.page);
    }
}

void session_runner::accept_pong(const message& answer)
{
    // Every server of the modern era knows `server/discover`, which pings it.
    const bool refused = answer.kind == message_kind::failure && answer.failure.code != internal_error;
    const bool modern = handshake_.speaks().modern();
    if (refused && modern && era_of_answer(answer) == era::legacy) {
        return leave_era(purpose::ping, era::legacy, context_.notes.shown(answer.failure.text));
    }
    lost_by_ping_ = false;
    context_.notes.forget(session_reason::ping_timeout);
    happened({.kind = event_kind::ping_answered});
}

// A ping is what every server answers. A list is no reason to start a program again.
bool session_runner::believes_move(purpose use) const
{
    const bool program = context_.settings.states.silence_is_legacy;
    return use == purpose::ping ||
           (use != purpose::handshake && !program && context_.state.may_have_moved(std::chrono::steady_clock::now()));
}

// walked() gets the answer to the walk's request.
void session_runner::leave_era(purpose use, era speaks, const std::string& said)
{
    auto words = "it speaks the " + std::string{name(speaks)} + " era by now: " + said;
    context_.notes.say(session_reason::era_changed, words);
    if (use == purpose::list) {
        walks_.expect_cancel(core::upstream_error(errc::upstream_protocol, std::move(words)));
    }
    session_event event;
    event.kind = event_kind::session_lost;
    event.verdict = speaks;
    happened(std::move(event));
}

void session_runner::fail_unsent(std::uint64_t id, const core::error& why, bool late)
{
    if (late && handshake_.speaks().modern()) {
        requests_.cancel(id);
    }
    fail(*connections_.current(), id, why, std::nullopt);
}

void session_runner::fail_probe(connection& probe, const core::error& why, std::optional<era> says)
{
    if (!says) {
        handshake_.record_probe(context_.notes.shown(why));
    }
    if (!says && connections_.current() == nullptr) {
        context_.notes.set_needs_operator(why.code == errc::session_misconfigured);
        context_.notes.say(session_reason::probe_failed, context_.notes.shown(why));
    }
    tell_era(probe, says, says || !is_unreachable(why.code, purpose::handshake));
}

void session_runner::fail(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says)
{
    if (request == 0) {
        // The first of a connection is worth a look: a server may behave as if it had not heard it.
        const bool known = std::exchange(from.refused_ours, true);
        return context_.notes.notification_rejected(known ? core::log_level::debug : core::log_level::warn, why);
    }
    if (from.probe) {
        return fail_probe(from, why, says);
    }
    const auto kept = shared_from_this();
    const auto use = requests_.take(request);
    if (!use) {
        return context_.lane.fail(request, {why.code, why.from, context_.notes.shown(why.detail)});
    }
    if (why.code == errc::session_not_found) {
        const bool pings = *use == purpose::ping;
        if (pings ? !std::exchange(lost_by_ping_, true) : walks_.loses_session(*use)) {
            return happened({.kind = event_kind::session_lost});
        }
        if (pings) {  // a server that has no pings, but is there
            return happened({.kind = event_kind::ping_answered});
        }
    }
    auto told = why;
    told.detail = context_.notes.shown(why);
    const bool nobody_there = is_unreachable(why.code, *use);
    if (says && *says != handshake_.spoken() && believes_move(*use)) {
        return leave_era(*use, *says, told.detail);
    }
    if (why.code == errc::upstream_timeout && *use != purpose::handshake && !handshake_.speaks().modern()) {
        requests_.cancel(request);
    }
    switch (*use) {
        case purpose::handshake:
            context_.notes.set_needs_operator(why.code == errc::session_misconfigured);
            if (!nobody_there) {
                return happened(handshake_.fail(std::move(told.detail), says));
            }
            handshake_.record_refusal(told.detail);
            context_.notes.say(session_reason::start_failed, told.detail);
            break;
        case purpose::list:
        case purpose::look:
            if (nobody_there && *use == purpose::list) {
                walks_.expect_cancel(told);  // the session ends with the walk: it makes no card without lists
            } else {
                walks_.fail(*use, told);
            }
            break;
        case purpose::listen:
            return happened({.kind = event_kind::stream_down});
        case purpose::ping:
            context_.notes.say(session_reason::ping_timeout, told.detail);
            break;  // its timer tells
    }
    if (nobody_there) {
        context_.notes.say(session_reason::unreachable, told.detail);
        happened({.kind = event_kind::unreachable});
    }
}

// A program that ends when it is asked for its era knows only the older one.
void session_runner::lose(connection& from, const core::error& why)
{
    const bool silent = from.probe && from.connected && context_.settings.states.silence_is_legacy;
    const bool beside = from.probe && connections_.current() != nullptr;
    if (silent || beside) {
        return tell_era(from, silent ? std::optional{era::legacy} : std::nullopt, false);
    }
    const bool connected = from.connected && !from.probe;
    auto refused = why.code == errc::message_too_large ? context_.notes.shown(why) : context_.notes.shown(why.detail);
    handshake_.record_refusal(refused);
    context_.notes.set_needs_operator(why.code == errc::session_misconfigured);
    context_.notes.say(connected ? session_reason::exited : session_reason::start_failed, std::move(refused));
    auto event = event_of(connected ? event_kind::lost : event_kind::connect_failed, from);
    connections_.lose(from);
    forget();
    happened(std::move(event));
}

}  // namespace mcp
