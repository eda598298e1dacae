#include "mcp/session/session.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

using enum session_reason;
using enum session_state;

// States as bits, so that one row of the table may stand for several.
constexpr unsigned in(std::initializer_list<session_state> states) noexcept
{
    unsigned bits = 0;
    for (const auto each : states) {
        bits |= 1U << static_cast<unsigned>(each);
    }
    return bits;
}

constexpr unsigned connecting = in({starting, initializing});
constexpr unsigned serving = in({ready, degraded});
constexpr unsigned handshaken = in({discovering, ready, degraded});
constexpr unsigned waiting = in({backoff, failed});
constexpr unsigned anywhere = (1U << session_states) - 1 - in({stopped});

}  // namespace

struct session::row {
    unsigned states;
    event_kind kind;
    timer_name fired;  // of event_kind::timer
    void (session::*then)();
};

// Events that are not listed have no effect in that state.
constexpr session::row session::table[] = {
    {in({configured}), event_kind::begin, {}, &session::on_begin},
    {in({configured}), event_kind::demand, {}, &session::begin_attempt},
    {anywhere & ~in({stopping}), event_kind::stop, {}, &session::on_stop},

    {connecting, event_kind::era_probed, {}, &session::on_probed},
    {in({starting}), event_kind::timer, timer_name::silence, &session::on_silence},
    {in({starting}), event_kind::connected, {}, &session::on_connected},
    {in({starting}), event_kind::connect_failed, {}, &session::on_connect_failed},
    {connecting, event_kind::timer, timer_name::start, &session::on_start_timeout},

    {in({initializing}), event_kind::handshake_done, {}, &session::on_handshake_done},
    {in({initializing}), event_kind::handshake_refused, {}, &session::on_handshake_refused},
    {in({initializing}), event_kind::session_lost, {}, &session::on_handshake_refused},
    {in({initializing}), event_kind::unreachable, {}, &session::on_nobody_there},

    {handshaken, event_kind::walk_done, {}, &session::on_walk_done},
    {serving, event_kind::walk_failed, {}, &session::health<&session_health::on_walk_failed>},
    {handshaken, event_kind::timer, timer_name::discovery, &session::health<&session_health::on_walk_late>},
    {handshaken, event_kind::list_changed, {}, &session::health<&session_health::on_list_changed>},
    {serving, event_kind::timer, timer_name::debounce, &session::health<&session_health::on_debounced>},
    {serving, event_kind::timer, timer_name::refresh, &session::health<&session_health::on_refresh>},
    {serving, event_kind::refresh, {}, &session::health<&session_health::on_refresh_asked>},
    {handshaken, event_kind::stream_up, {}, &session::health<&session_health::on_stream_up>},
    {handshaken, event_kind::stream_down, {}, &session::health<&session_health::on_stream_down>},
    {handshaken, event_kind::stream_none, {}, &session::health<&session_health::on_stream_none>},
    {handshaken, event_kind::timer, timer_name::listen, &session::health<&session_health::on_listen>},
    {serving, event_kind::timer, timer_name::ping, &session::health<&session_health::ping>},
    {serving, event_kind::ping_answered, {}, &session::health<&session_health::on_ping_answered>},
    {serving, event_kind::timer, timer_name::pong, &session::on_pong_late},
    {handshaken, event_kind::era_probed, {}, &session::on_probed_again},
    {handshaken, event_kind::timer, timer_name::start, &session::on_probed_again},

    {handshaken, event_kind::session_lost, {}, &session::on_session_lost},
    {handshaken, event_kind::unreachable, {}, &session::on_unreachable},
    {connecting | handshaken, event_kind::lost, {}, &session::on_lost},
    {waiting, event_kind::timer, timer_name::backoff, &session::on_backoff_over},

    {anywhere, event_kind::closed, {}, &session::on_closed},
    {anywhere, event_kind::timer, timer_name::stop, &session::on_closed},
};

session::session(const session_settings& settings)
    : settings_{settings},
      probe_{settings},
      health_{settings}
{
}

bool session::stale(const session_event& event) const noexcept
{
    if (about_connection(event.kind)) {
        return event.of != connection_ || (event.kind != event_kind::closed && !open_);
    }
    if (about_session(event.kind)) {
        return event.of != generation_;
    }
    return event.kind == event_kind::timer && !step_.armed(event.fired);
}

std::vector<session_action> session::on(const session_event& event, core::steady_time now, double random)
{
    if (stale(event)) {
        return {};
    }
    step_.begin(event, now, random);
    for (const auto& row : table) {
        const bool here = (row.states >> static_cast<unsigned>(state()) & 1U) != 0;
        if (here && row.kind == event.kind && (row.kind != event_kind::timer || row.fired == event.fired)) {
            (this->*row.then)();
            break;
        }
    }
    return step_.end();
}

void session::on_begin()
{
    if (!settings_.lazy) {
        begin_attempt();
    }
}

void session::begin_attempt()
{
    step_.disarm(timer_name::backoff);
    step_.enter(starting, reason());
    if (!closing_) {
        connect();
    }
}

void session::connect()
{
    ++connection_;
    open_ = true;
    probe_.begin(step_);
}

// Whichever connection has the first answer is the session's.
void session::on_probed()
{
    if (!probe_.alone() && !probe_.beside()) {
        return;
    }
    const auto& event = step_.event();
    if (!event.verdict && !event.stands && probe_.alone()) {
        return lose(probe_failed, false);
    }
    if (event.verdict) {
        probe_.learn(*event.verdict, step_.now());
    } else {
        probe_.tell_nothing();
    }
    if (event.verdict && event.stands) {
        return keep_probe(reason());
    }
    probe_.leave(step_);
}

void session::keep_probe(session_reason why)
{
    probe_.keep(step_, handshaken_);
    shake_hands(why);
}

void session::on_silence()
{
    probe_.on_silence(step_);
}

void session::wait_for_probe()
{
    probe_.wait(step_);
    handshaken_ = false;
    step_.enter(starting, reason());
}

// A program that cannot come up while another one of it runs has the next attempt for itself.
void session::on_start_timeout()
{
    const bool asked = probe_.alone() || probe_.beside();
    const bool shaking = state() == initializing;
    lose(probe_.alone() ? probe_failed : shaking ? handshake_timeout : start_timeout, shaking);
    if (asked && settings_.silence_is_legacy) {
        probe_.learn(era::legacy, step_.now());
    }
}

// The probe beside a session of the legacy era is answered, or is not in time.
void session::on_probed_again()
{
    if (!probe_.beside()) {
        return;
    }
    step_.disarm(timer_name::start);
    const auto& event = step_.event();
    const auto silence = settings_.silence_is_legacy ? std::optional{era::legacy} : std::nullopt;
    const auto verdict = event.kind == event_kind::timer ? silence : event.verdict;
    if (verdict) {
        probe_.learn(*verdict, step_.now());
    }
    if (verdict != era::modern || !event.stands) {
        return probe_.leave(step_);
    }
    step_.disarm_all();
    health_.end(step_);
    keep_probe(era_changed);
    step_.arm(timer_name::start, settings_.start_timeout);
}

void session::on_connect_failed()
{
    if (probe_.beside()) {
        return wait_for_probe();
    }
    open_ = false;
    lose(start_failed, false);
}

void session::on_connected()
{
    if (!probe_.alone()) {
        shake_hands(reason());
    }
}

void session::shake_hands(session_reason why)
{
    spoken_ = probe_.spoken();
    version_ = {};
    handshaken_ = true;
    ++generation_;
    step_.enter(initializing, why);
    step_.act(spoken_ == era::modern ? action_kind::send_discover : action_kind::send_initialize).version =
        latest(spoken_);
}

void session::on_handshake_done()
{
    const auto spoken = versions(spoken_);
    const auto chosen = std::ranges::find(spoken, step_.event().version);
    if (chosen == spoken.end()) {
        return on_handshake_refused();
    }
    version_ = *chosen;
    probe_.shaken(spoken_);
    if (probe_.beside()) {
        // Until the probe says something else, for which it has what is left of the start's time.
        probe_.learn(spoken_, step_.now());
    } else {
        step_.disarm(timer_name::start);
    }
    if (spoken_ == era::legacy) {
        step_.act(action_kind::send_initialized);
    }
    step_.enter(discovering, reason());
    health_.begin(step_, spoken_);
}

void session::on_handshake_refused()
{
    if (probe_.beside()) {
        return wait_for_probe();
    }
    if (speaks_otherwise() && probe_.recalled()) {
        return ask_again();
    }
    const bool outage = probe_.told_nothing() && !step_.event().answered;
    outage ? lose(probe_failed, false) : lose(handshake_refused, true);
}

// A server that has come back in another era than was spoken with it last is not kept waiting. What it is asked in this attempt is not
// recalled, so that one that contradicts itself is not asked in a circle.
void session::ask_again()
{
    probe_.doubt(spoken_);
    end_work();
    close(false);
    step_.enter(starting, era_changed);
    begin_attempt();
}

void session::on_nobody_there()
{
    probe_.beside() ? wait_for_probe() : lose(start_failed, false);
}

void session::on_walk_done()
{
    trial_ = false;
    health_.on_walk_done(step_);
}

void session::on_unreachable()
{
    lose(unreachable, false);
}

void session::on_pong_late()
{
    if (!health_.on_pong_late(step_)) {
        lose(ping_timeout, true);
    }
}

// A server that forgets sessions as soon as they are made must not be asked in a circle.
void session::on_session_lost()
{
    const auto since = health_.ready_since();
    const bool moved = speaks_otherwise() && settings_.era == era_policy::automatic;
    if (!since || step_.now() - *since < settings_.steady_after) {
        return lose(moved ? era_changed : session_lost, false);
    }
    failures_ = 0;
    probe_.age();
    if (moved) {
        return ask_again();
    }
    end_work();
    shake_hands(session_lost);
    step_.arm(timer_name::start, settings_.start_timeout);
}

void session::on_lost()
{
    if (probe_.beside() && (state() == starting || state() == initializing)) {
        return wait_for_probe();
    }
    open_ = false;
    lose(exited, true);
}

void session::lose(session_reason why, bool crash)
{
    if (const auto since = health_.ready_since(); since && step_.now() - *since >= settings_.steady_after) {
        failures_ = 0;
    }
    // A program that was asked for its era may have minded that: the next one is not.
    const bool unsure = (why == handshake_refused || why == handshake_timeout) && !probe_.minded();
    if (unsure || why == era_changed) {
        probe_.forget();
    }
    end_work();
    close(handshaken_ && why != session_lost && why != era_changed);
    ++failures_;
    if (crash) {
        crashes_.push_back(step_.now());
    }
    while (!crashes_.empty() && step_.now() - crashes_.front() >= settings_.crash_window) {
        crashes_.pop_front();
    }
    if (trial_ || crashes_.size() >= settings_.crashes) {
        crashes_.clear();
        step_.enter(failed, why);
        return step_.arm(timer_name::backoff, settings_.crash_rest);
    }
    step_.enter(backoff, why);
    step_.arm(timer_name::backoff, backoff_delay(settings_, failures_, step_.random()));
}

void session::on_backoff_over()
{
    trial_ = state() == failed;
    begin_attempt();
}

void session::end_work()
{
    step_.disarm_all();
    health_.end(step_);
    probe_.end(step_);
}

void session::close(bool end_session)
{
    if (std::exchange(open_, false)) {
        step_.act(action_kind::close).end_session = end_session;
        closing_ = true;
        step_.arm(timer_name::stop, settings_.stop_timeout);
    }
    probe_.forget_attempt();
    handshaken_ = false;
}

void session::on_stop()
{
    end_work();
    step_.enter(stopping);
    close(handshaken_);
    if (!closing_) {
        step_.enter(stopped);
    }
}

void session::on_closed()
{
    if (!std::exchange(closing_, false)) {
        return;
    }
    step_.disarm(timer_name::stop);
    if (state() == starting) {
        connect();
    } else if (state() == stopping) {
        step_.enter(stopped);
    }
}

}  // namespace mcp
