#include "mcp/session/conversation.hpp"

#include "mcp/protocol/http_evidence.hpp"
#include "mcp/session/caller_lane.hpp"

#include <chrono>
#include <utility>

namespace mcp {
namespace {

using core::errc;

session_event event_of(event_kind kind, const connection& about)
{
    session_event event;
    event.kind = kind;
    event.of = about.number();
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

conversation::conversation(
    session_host& host,
    const runner_settings& settings,
    connections& over,
    operator_notes& notes
)
    : host_{host},
      settings_{settings},
      connections_{over},
      notes_{notes},
      requests_{host, over, *this},
      walks_{host, settings, requests_, notes},
      handshake_{host, over, notes, requests_, walks_},
      intake_{host, settings, requests_, notes, *this}
{
}

void conversation::forget()
{
    requests_.forget();
    walks_.forget();
}

void conversation::abandon()
{
    walks_.abandon();
    requests_.forget();
}

void conversation::connected(connection& from)
{
    from.probe() ? ask_for_era(from) : host_.happened(event_of(event_kind::connected, from));
}

void conversation::ask_for_era(connection& probe)
{
    const dialect modern{std::string{latest(era::modern)}, settings_.client};
    probe.question = requests_.next_id();
    handshake_.note_probe({});
    probe.asked_at = std::chrono::steady_clock::now();
    if (!probe.wire().send({discover_request(probe.question, modern), probe.question, "server/discover"})) {
        tell_era(probe, std::nullopt, false);
    }
}

void conversation::tell_era(const connection& probe, std::optional<era> verdict, bool stands)
{
    auto event = event_of(event_kind::era_probed, probe);
    event.verdict = verdict;
    event.stands = stands;
    host_.happened(std::move(event));
}

void conversation::shake_hands(const session_action& action)
{
    forget();
    handshake_.send(action, settings_.client);
}

void conversation::open_stream()
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
        current->wire().open_stream(std::move(listen));
    }
}

void conversation::send_ping()
{
    last_ping_ = requests_.begin(purpose::ping);
    requests_.send(
        {ping_request(last_ping_, handshake_.speaks()),
         last_ping_,
         handshake_.speaks().modern() ? "server/discover" : "ping"}
    );
}

void conversation::cancel_ping()
{
    if (requests_.waits(last_ping_)) {
        requests_.cancel(last_ping_);
    }
    requests_.keep_latest(purpose::ping, settings_.states.ping_misses);
}

void conversation::received(connection& from, std::string_view text)
{
    take_each(from, messages_in(text, host_.state().version()));
}

void conversation::received_long(connection& from, const read_text& what)
{
    take_each(from, what.parts(host_.state().version()));
}

template <class Messages>
void conversation::take_each(connection& from, const Messages& messages)
{
    const auto kept = host_.keep();
    for (const auto& each : messages) {
        if (&from != connections_.current() && &from != connections_.probe()) {
            return;  // what came before has ended it
        }
        intake_.take(from, each);
    }
}

void conversation::heard(connection& from, const message& said, list_page* page)
{
    if (from.probe()) {
        return take_from_probe(from, said);
    }
    switch (said.kind) {
        case message_kind::request:
            return requests_.send({answer_to(said), 0, {}});
        case message_kind::notification:
            return take_notification(said);
        case message_kind::result:
        case message_kind::failure:
            return take_answer(said, page);
    }
}

void conversation::unusable(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says)
{
    if (from.probe() || connections_.current() == &from) {
        failed(from, request, why, says);
    }
}

void conversation::take_from_probe(connection& probe, const message& answer)
{
    if (answer.answered() != std::optional{probe.question}) {
        return;
    }
    const auto verdict = era_of_answer(answer);
    if (verdict == era::modern && answer.kind == message_kind::result) {
        probe.discovered = answer.result;
    }
    tell_era(probe, verdict, true);
}

void conversation::take_notification(const message& notification)
{
    if (notification.method == "notifications/subscriptions/acknowledged") {
        host_.happened({.kind = event_kind::stream_up});
    } else if (walks_.note(notification.method)) {
        host_.happened({.kind = event_kind::list_changed});
    }
}

void conversation::take_answer(const message& answer, list_page* page)
{
    const auto id = answer.answered();
    const auto use = id ? requests_.take(*id) : std::nullopt;
    if (!use) {
        return;  // late, or to nothing that was asked
    }
    const bool good = answer.kind == message_kind::result;
    const auto moved = other_era(answer, handshake_.spoken());
    if (moved && believes_move(*use)) {
        return leave_era(*use, *moved, notes_.shown(answer.failure.text));
    }
    switch (*use) {
        case purpose::handshake:
            notes_.set_needs_operator(false);
            return good ? handshake_.take(answer.result) : handshake_.refuse(notes_.shown(answer.failure.text), moved);
        case purpose::ping:
            return take_pong(answer);
        case purpose::listen:
            return host_.happened({.kind = good ? event_kind::stream_down : event_kind::stream_none});
        case purpose::list:
        case purpose::look:
            return walks_.take(*use, answer, page);
    }
}

void conversation::take_pong(const message& answer)
{
    // What a server of the modern era is pinged with is what every one of them knows.
    const bool refused = answer.kind == message_kind::failure && answer.failure.code != internal_error;
    const bool modern = handshake_.speaks().modern();
    if (refused && modern && era_of_answer(answer) == era::legacy) {
        return leave_era(purpose::ping, era::legacy, notes_.shown(answer.failure.text));
    }
    lost_by_ping_ = false;
    notes_.forget(session_reason::ping_timeout);
    host_.happened({.kind = event_kind::ping_answered});
}

// A ping is what every server answers. A list is no reason to start a program again.
bool conversation::believes_move(purpose use) const
{
    const bool program = settings_.states.silence_is_legacy;
    return use == purpose::ping ||
           (use != purpose::handshake && !program && host_.state().may_have_moved(std::chrono::steady_clock::now()));
}

// Who waits for a walk is told what its request was answered with.
void conversation::leave_era(purpose use, era speaks, const std::string& said)
{
    auto words = "it speaks the " + std::string{name(speaks)} + " era by now: " + said;
    notes_.say(session_reason::era_changed, words);
    if (use == purpose::list) {
        walks_.expect_cancel(core::upstream_error(errc::upstream_protocol, std::move(words)));
    }
    session_event event;
    event.kind = event_kind::session_lost;
    event.verdict = speaks;
    host_.happened(std::move(event));
}

void conversation::not_sent(std::uint64_t id, const core::error& why)
{
    failed(*connections_.current(), id, why, std::nullopt);
}

void conversation::late(std::uint64_t id, const std::string& method)
{
    if (handshake_.speaks().modern()) {
        requests_.cancel(id);
    }
    not_sent(id, core::upstream_error(errc::upstream_timeout, "no answer to " + method));
}

void conversation::fail_probe(connection& probe, const core::error& why, std::optional<era> says)
{
    if (!says) {
        handshake_.note_probe(notes_.shown(why));
    }
    if (!says && connections_.current() == nullptr) {
        notes_.set_needs_operator(why.code == errc::session_misconfigured);
        notes_.say(session_reason::probe_failed, notes_.shown(why));
    }
    tell_era(probe, says, says || !is_unreachable(why.code, purpose::handshake));
}

void conversation::failed(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says)
{
    if (request == 0) {
        // The first of a connection is worth a look: a server may behave as if it had not heard it.
        const bool known = std::exchange(from.refused_ours, true);
        return notes_.notification_rejected(known ? core::log_level::debug : core::log_level::warn, why);
    }
    if (from.probe()) {
        return fail_probe(from, why, says);
    }
    const auto kept = host_.keep();
    const auto use = requests_.take(request);
    if (!use) {
        return host_.lane().fail(request, {why.code, why.from, notes_.shown(why.detail)});
    }
    if (why.code == errc::session_not_found) {
        const bool pings = *use == purpose::ping;
        if (pings ? !std::exchange(lost_by_ping_, true) : walks_.loses_session(*use)) {
            return session_lost();
        }
        if (pings) {  // a server that has no pings, but is there
            return host_.happened({.kind = event_kind::ping_answered});
        }
    }
    auto told = why;
    told.detail = notes_.shown(why);
    const bool nobody_there = is_unreachable(why.code, *use);
    if (says && *says != handshake_.spoken() && believes_move(*use)) {
        return leave_era(*use, *says, told.detail);
    }
    if (why.code == errc::upstream_timeout && *use != purpose::handshake && !handshake_.speaks().modern()) {
        requests_.cancel(request);
    }
    switch (*use) {
        case purpose::handshake:
            notes_.set_needs_operator(why.code == errc::session_misconfigured);
            if (!nobody_there) {
                return handshake_.fail(std::move(told.detail), says);
            }
            handshake_.note_refusal(told.detail);
            notes_.say(session_reason::start_failed, told.detail);
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
            return host_.happened({.kind = event_kind::stream_down});
        case purpose::ping:
            notes_.say(session_reason::ping_timeout, told.detail);
            break;  // its timer tells
    }
    if (nobody_there) {
        notes_.say(session_reason::unreachable, told.detail);
        host_.happened({.kind = event_kind::unreachable});
    }
}

void conversation::session_lost()
{
    host_.happened({.kind = event_kind::session_lost});
}

void conversation::stream_changed(stream_news news)
{
    host_.happened(
        {.kind = news == stream_news::stands ? event_kind::stream_up
                 : news == stream_news::none ? event_kind::stream_none
                                             : event_kind::stream_down}
    );
}

// A program that ends when it is asked for its era knows only the older one.
void conversation::lost(connection& from, const core::error& why)
{
    const bool silent = from.probe() && from.was_connected() && settings_.states.silence_is_legacy;
    const bool beside = from.probe() && connections_.current() != nullptr;
    if (silent || beside) {
        return tell_era(from, silent ? std::optional{era::legacy} : std::nullopt, false);
    }
    const bool connected = from.was_connected() && !from.probe();
    auto refused = why.code == errc::message_too_large ? notes_.shown(why) : notes_.shown(why.detail);
    handshake_.note_refusal(refused);
    notes_.set_needs_operator(why.code == errc::session_misconfigured);
    notes_.say(connected ? session_reason::exited : session_reason::start_failed, std::move(refused));
    auto event = event_of(connected ? event_kind::lost : event_kind::connect_failed, from);
    connections_.lose(from);
    forget();
    host_.happened(std::move(event));
}

void conversation::closed(connection& from)
{
    auto event = event_of(event_kind::closed, from);
    if (connections_.take_end(from)) {
        host_.happened(std::move(event));
    }
}

}  // namespace mcp
