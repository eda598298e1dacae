#include "mcp/session/conversation.hpp"

#include "mcp/protocol/http_evidence.hpp"
#include "mcp/session/caller_lane.hpp"

#include <chrono>
#include <utility>

namespace mcp {
namespace {

using core::errc;

constexpr std::string_view way_out =
    "; if it answers nothing before `initialize`, `era: legacy` asks nothing before it";

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
           code == errc::upstream_tls;
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
    walks_.abandon_look();
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
    dialect_ = {std::string{action.version}, settings_.client};
    handshake_began_ = std::chrono::steady_clock::now();
    forget();
    const bool modern = action.kind == action_kind::send_discover;
    if (auto* const current = connections_.current(); modern && current != nullptr) {
        current->wire().settle(dialect_);
        if (const auto known = std::exchange(current->discovered, {}); !known.empty()) {
            handshake_began_ = current->asked_at;
            return take_handshake(known);
        }
    }
    const auto id = requests_.begin(purpose::handshake);
    requests_.send(
        {modern ? discover_request(id, dialect_) : initialize_request(id, dialect_),
         id,
         modern ? "server/discover" : "initialize"}
    );
}

void conversation::send_initialized()
{
    requests_.send({initialized_notification(), 0, "notifications/initialized"});
}

void conversation::open_stream()
{
    outgoing listen;
    if (dialect_.modern()) {
        const auto& announces = walks_.server().announces;
        if (announces.none()) {
            return;
        }
        requests_.end_all(purpose::listen);
        const auto id = requests_.begin(purpose::listen);
        listen = {listen_request(id, announces, dialect_), id, "subscriptions/listen"};
    }
    if (auto* const current = connections_.current()) {
        current->wire().open_stream(std::move(listen));
    }
}

void conversation::send_ping()
{
    last_ping_ = requests_.begin(purpose::ping);
    requests_.send({ping_request(last_ping_, dialect_), last_ping_, dialect_.modern() ? "server/discover" : "ping"});
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
    const auto kept = host_.keep();
    for (const auto each : messages_in(text, host_.state().version())) {
        if (&from != connections_.current() && &from != connections_.probe()) {
            return;  // what came before has ended it
        }
        intake_.take(from, each);
    }
}

void conversation::heard(connection& from, const message& said)
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
            return take_answer(said);
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

void conversation::take_answer(const message& answer)
{
    const auto id = answer.answered();
    const auto use = id ? requests_.take(*id) : std::nullopt;
    if (!use) {
        return;  // late, or to nothing that was asked
    }
    const bool good = answer.kind == message_kind::result;
    switch (*use) {
        case purpose::handshake:
            notes_.set_needs_operator(false);
            return good ? take_handshake(answer.result) : refuse_handshake(notes_.shown(answer.failure.text));
        case purpose::ping:
            return take_pong(answer);
        case purpose::listen:
            return host_.happened({.kind = good ? event_kind::stream_down : event_kind::stream_none});
        case purpose::list:
        case purpose::look:
            return walks_.take(*use, answer);
    }
}

void conversation::take_pong(const message& answer)
{
    const bool other_era = answer.kind == message_kind::failure && answer.failure.code != internal_error &&
                           era_of_answer(answer) == (dialect_.modern() ? era::legacy : era::modern);
    if (!other_era) {
        notes_.forget(session_reason::ping_timeout);
    }
    host_.happened({.kind = other_era ? event_kind::session_lost : event_kind::ping_answered});
}

void conversation::take_handshake(std::string_view result)
{
    auto facts = dialect_.modern() ? read_discover_result(result) : read_initialize_result(result);
    if (!facts) {
        return refuse_handshake(notes_.shown(facts.error().detail));
    }
    session_event event;
    event.kind = event_kind::handshake_done;
    event.version = facts->protocol_version;
    dialect_.version = facts->protocol_version;
    walks_.set_server(std::move(*facts), dialect_);
    auto* const current = connections_.current();
    if (current != nullptr) {
        current->wire().settle(dialect_);
    }
    fell_back_ = current != nullptr && current->wire().fell_back();
    if (fell_back_) {
        notes_.fell_back();
    }
    notes_.set_needs_operator(false);
    auto& counts = host_.counts();
    ++counts.handshakes;
    counts.latest_handshake =
        std::chrono::duration_cast<core::duration>(std::chrono::steady_clock::now() - handshake_began_);
    host_.happened(std::move(event));
}

void conversation::refuse_handshake(std::string why)
{
    refused_ = why;
    notes_.say(session_reason::handshake_refused, std::move(why));
    host_.happened({.kind = event_kind::handshake_refused});
}

void conversation::not_sent(std::uint64_t id, const core::error& why)
{
    failed(*connections_.current(), id, why, std::nullopt);
}

void conversation::late(std::uint64_t id, const std::string& method)
{
    if (dialect_.modern()) {
        requests_.cancel(id);
    }
    not_sent(id, core::upstream_error(errc::upstream_timeout, "no answer to " + method));
}

void conversation::fail_probe(connection& probe, const core::error& why, std::optional<era> says)
{
    if (!says && connections_.current() == nullptr) {
        notes_.set_needs_operator(why.code == errc::session_misconfigured);
        const auto advice = why.code == errc::upstream_reset ? way_out : std::string_view{};
        notes_.say(session_reason::probe_failed, notes_.shown(why).append(advice));
    }
    tell_era(probe, says, true);
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
    auto told = why;
    told.detail = notes_.shown(why);
    const bool nobody_there = is_unreachable(why.code, *use);
    if (why.code == errc::upstream_timeout && *use != purpose::handshake && !dialect_.modern()) {
        requests_.cancel(request);
    }
    switch (*use) {
        case purpose::handshake:
            notes_.set_needs_operator(why.code == errc::session_misconfigured);
            if (!nobody_there) {
                return refuse_handshake(std::move(told.detail));
            }
            refused_ = told.detail;
            notes_.say(session_reason::start_failed, told.detail);
            break;
        case purpose::list:
        case purpose::look:
            walks_.fail(*use, told);
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
    refused_ = why.code == errc::message_too_large ? notes_.shown(why) : notes_.shown(why.detail);
    notes_.set_needs_operator(why.code == errc::session_misconfigured);
    notes_.say(connected ? session_reason::exited : session_reason::start_failed, refused_);
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

void conversation::on_late_start()
{
    auto* const current = connections_.current();
    auto* const shown = current != nullptr ? current : connections_.probe();
    if (shown == nullptr) {
        return;
    }
    // What `initialize` was refused with beside the probe is told with it, and does not pass by itself.
    notes_.set_needs_operator(notes_.needs_operator() && current == nullptr && !refused_.empty());
    const auto words = shown->wire().last_words();
    const auto said = words.empty() ? words : "; it wrote: " + words;
    if (host_.state().state() == session_state::initializing) {
        notes_.say_late(session_reason::handshake_timeout, said);
    } else if (current == nullptr) {
        notes_.say(
            session_reason::probe_failed,
            "no answer to server/discover" + (refused_.empty() ? refused_ : "; to initialize: " + refused_) + said
        );
    }
}

}  // namespace mcp
