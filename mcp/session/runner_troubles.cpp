// What goes wrong with a server: answers that cannot be taken, requests that fail, connections that end.
#include "mcp/session/runner_state.hpp"

namespace mcp {
namespace {

constexpr std::string_view way_out =
    "; if it answers nothing before `initialize`, `era: legacy` asks nothing before it";

// Of what has no words of a server's.
std::string_view words_for(session_reason why) noexcept
{
    switch (why) {
        case session_reason::start_timeout:
            return "the start took too long";
        case session_reason::handshake_refused:
            return "the handshake was refused";
        case session_reason::handshake_timeout:
            return "no answer to the handshake";
        case session_reason::discovery_timeout:
            return "its lists did not come in time";
        case session_reason::ping_timeout:
            return "no answer to a ping";
        case session_reason::session_lost:
            return "it has forgotten the session";
        case session_reason::stream_down:
            return "the stream of its notifications is down";
        case session_reason::era_changed:
            return "it speaks the modern era by now";
        case session_reason::none:
        case session_reason::start_failed:
        case session_reason::probe_failed:
        case session_reason::exited:
        case session_reason::discovery_failed:
        case session_reason::refresh_failed:
        case session_reason::unreachable:
            break;
    }
    return {};
}

constexpr std::size_t index_of(session_reason why) noexcept
{
    return static_cast<std::size_t>(why);
}

}  // namespace

// Shown once its trouble is the one that is told.
void runner::running::say(session_reason about, std::string words)
{
    auto& said = words_[index_of(about)];
    said = std::move(words);
    if (session_.state() == session_state::degraded && session_.reason() == about && shown_ == about) {
        detail_ = said;
    }
}

void runner::running::describe(const session_action& what, bool trouble)
{
    if (what.state == session_state::ready) {
        detail_.clear();
    } else if (trouble || what.reason != shown_) {
        const auto& said = words_[index_of(what.reason)];
        detail_ = said.empty() ? std::string{words_for(what.reason)} : said;
    }
    shown_ = what.reason;
    if (what.state != session_state::degraded) {
        words_ = {};
    }
}

// Whatever was asked of it has not been answered.
void runner::running::take_late_start()
{
    const auto* const shown_link = link_ != nullptr ? link_.get() : probe_.get();
    if (shown_link == nullptr) {
        return;
    }
    // What `initialize` was refused with beside the probe is told with it, and does not pass by itself.
    needs_operator_ = needs_operator_ && link_ == nullptr && !refused_.empty();
    const auto words = shown_link->wire->last_words();
    const auto said = words.empty() ? words : "; it wrote: " + words;
    if (session_.state() == session_state::initializing) {
        say(session_reason::handshake_timeout, std::string{words_for(session_reason::handshake_timeout)} + said);
    } else if (link_ == nullptr) {
        say(session_reason::probe_failed,
            "no answer to server/discover" + (refused_.empty() ? refused_ : "; to initialize: " + refused_) + said);
    }
}

void runner::running::take_too_long(link& from, std::string_view beginning, std::size_t limit)
{
    ++counts_.received;
    const auto why = core::upstream_error(
        core::errc::message_too_large,
        "a message is over max_message, " + std::to_string(limit) + " bytes"
    );
    const bool first = !std::exchange(from.spoke_too_long, true);
    refuse(from, {{addressee_of(beginning, false)}, why, beginning.size(), limit, first});
}

// The request that waits for it. Where no id can be read, it can only be the one that is under way; a stream's has no end.
std::optional<std::uint64_t> runner::running::request_of(const link& from, const addressee& whom) const
{
    if (!whom.answer || whom.other) {
        return std::nullopt;
    }
    if (from.probe()) {
        return whom.id.value_or(from.question) == from.question ? std::optional{from.question} : std::nullopt;
    }
    if (whom.id) {
        return asked_.contains(*whom.id) ? whom.id : std::nullopt;
    }
    std::optional<std::uint64_t> only;
    for (const auto& [id, each] : asked_) {
        if (each.what == purpose::listen) {
            continue;
        }
        if (only) {
            return std::nullopt;
        }
        only = id;
    }
    return only;
}

void runner::running::refuse(link& from, const refused_text& what)
{
    ++counts_.refused;
    std::vector<std::uint64_t> requests;
    for (const auto& each : what.whom) {
        if (const auto request = request_of(from, each)) {
            requests.push_back(*request);
        }
    }
    // The first is worth a look, and so is each that something waits for; a flood is not worth a flood.
    const auto level = what.first || !requests.empty() ? core::log_level::warn : core::log_level::debug;
    const auto detail = shown(what.why.detail);
    if (what.limit) {
        log_.write(
            level,
            "mcp_message_rejected",
            {{"agent", name_}, {"detail", detail}, {"size", what.size}, {"limit", *what.limit}}
        );
    } else {
        log_.write(level, "mcp_message_rejected", {{"agent", name_}, {"detail", detail}, {"size", what.size}});
    }
    if (requests.empty()) {
        return;
    }
    if (from.probe()) {
        // It is there, and does not know the modern era well enough to answer in it.
        return take_failure(
            from,
            requests.front(),
            what.why,
            settings_.states.silence_is_legacy ? std::optional{era::legacy} : std::nullopt
        );
    }
    const auto self = shared_from_this();
    const auto why = refused_answer(what.why);
    for (const auto each : requests) {
        if (link_.get() == &from) {
            take_failure(from, each, why, std::nullopt);
        }
    }
}

// The first of a connection is worth a look: a server may behave as if it had not heard it.
void runner::running::note_not_taken(link& from, const core::error& why)
{
    log_.write(
        std::exchange(from.refused_ours, true) ? core::log_level::debug : core::log_level::warn,
        "mcp_notification_rejected",
        {{"agent", name_}, {"detail", shown(std::string{core::name(why.code)} + ": " + why.detail)}}
    );
}

void runner::running::take_failure(link& from, std::uint64_t request, const core::error& why, std::optional<era> says)
{
    if (request == 0) {
        return note_not_taken(from, why);
    }
    if (from.probe()) {
        if (!says && link_ == nullptr) {
            needs_operator_ = why.code == core::errc::session_misconfigured;
            auto words = shown(std::string{core::name(why.code)} + ": " + why.detail);
            words += why.code == core::errc::upstream_reset ? way_out : std::string_view{};
            say(session_reason::probe_failed, std::move(words));
        }
        return tell_era(from, says, true);
    }
    const auto found = asked_.find(request);
    if (found == asked_.end()) {
        return;
    }
    const auto what = found->second.what;
    requests_.end(request);
    asked_.erase(found);
    auto told = why;
    told.detail = shown(std::string{core::name(why.code)} + ": " + why.detail);
    const bool nobody_there = why.code == core::errc::upstream_refused || why.code == core::errc::upstream_unresolved ||
                              why.code == core::errc::upstream_tls;
    if (why.code == core::errc::upstream_timeout && what != purpose::handshake && !dialect_.modern()) {
        cancel(request);
    }
    switch (what) {
        case purpose::handshake:
            needs_operator_ = why.code == core::errc::session_misconfigured;
            if (!nobody_there) {
                return refuse_handshake(std::move(told.detail));
            }
            refused_ = told.detail;
            say(session_reason::start_failed, told.detail);
            break;
        case purpose::list:
            walk_failed(told);
            break;
        case purpose::look:
            end_look(told);
            break;
        case purpose::listen:
            return tell_of_session(event_kind::stream_down);
        case purpose::ping:
            say(session_reason::ping_timeout, told.detail);
            break;  // its timer tells
    }
    if (nobody_there) {
        say(session_reason::unreachable, told.detail);
        tell_of_session(event_kind::unreachable);
    }
}

// A program that ends when it is asked for its era knows only the older one.
void runner::running::take_loss(link& from, const core::error& why)
{
    const bool silent = from.probe() && from.was_connected() && settings_.states.silence_is_legacy;
    const bool beside = from.probe() && link_ != nullptr;
    if (silent || beside) {
        return tell_era(from, silent ? std::optional{era::legacy} : std::nullopt, false);
    }
    const bool connected = from.was_connected() && !from.probe();
    const bool too_large = why.code == core::errc::message_too_large;
    auto words = shown(too_large ? std::string{core::name(why.code)} + ": " + why.detail : why.detail);
    refused_ = words;
    needs_operator_ = why.code == core::errc::session_misconfigured;
    say(connected ? session_reason::exited : session_reason::start_failed, std::move(words));
    requests_.end(from.question);
    auto gone = std::move(from.probe() ? probe_ : link_);
    const auto number = from.number();
    retire(std::move(gone));
    forget_requests();
    tell_of(connected ? event_kind::lost : event_kind::connect_failed, number);
}

}  // namespace mcp
