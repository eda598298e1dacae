#include "mcp/session/session_state.hpp"

#include "mcp/session/session_rules.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

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

constexpr unsigned serving = in({ready, degraded});
constexpr unsigned shaken = in({discovering, ready, degraded});
constexpr unsigned connecting = in({starting, initializing});
constexpr unsigned waiting = in({backoff, failed});
constexpr unsigned anywhere = (1U << session_states) - 1 - in({stopped});

bool about_connection(event_kind kind) noexcept
{
    return kind >= event_kind::connected && kind <= event_kind::closed;
}

bool about_session(event_kind kind) noexcept
{
    return kind >= event_kind::handshake_done && kind <= event_kind::ping_answered;
}

struct row {
    unsigned states;
    event_kind kind;
    timer_name fired;  // of event_kind::timer
    void (session_rules::*then)();
};

// What is not listed says nothing in that state.
constexpr row table[] = {
    {in({configured}), event_kind::begin, {}, &session_rules::on_begin},
    {in({configured}), event_kind::demand, {}, &session_rules::begin_attempt},
    {in({configured, discovering, ready, degraded, backoff, failed}) | connecting,
     event_kind::restart,
     {},
     &session_rules::on_restart},
    {in({disabled}), event_kind::enable, {}, &session_rules::on_enable},
    {in({stopping}), event_kind::enable, {}, &session_rules::on_other_goal},
    {in({stopping}), event_kind::disable, {}, &session_rules::on_other_goal},
    {in({stopping}), event_kind::stop, {}, &session_rules::on_other_goal},
    {anywhere & ~in({stopping, disabled}), event_kind::disable, {}, &session_rules::on_stop},
    {anywhere & ~in({stopping}), event_kind::stop, {}, &session_rules::on_stop},

    {connecting, event_kind::era_probed, {}, &session_rules::on_probed},
    {in({starting}), event_kind::timer, timer_name::silence, &session_rules::on_silence},
    {in({starting}), event_kind::connected, {}, &session_rules::on_connected},
    {in({starting}), event_kind::connect_failed, {}, &session_rules::on_connect_failed},
    {connecting, event_kind::timer, timer_name::start, &session_rules::on_start_timeout},

    {in({initializing}), event_kind::handshake_done, {}, &session_rules::on_handshake_done},
    {in({initializing}), event_kind::handshake_refused, {}, &session_rules::on_handshake_refused},
    {in({initializing}), event_kind::session_lost, {}, &session_rules::on_handshake_refused},
    {in({initializing}), event_kind::unreachable, {}, &session_rules::on_nobody_there},

    {in({discovering}), event_kind::walk_failed, {}, &session_rules::on_first_walk_failed},
    {in({discovering}), event_kind::timer, timer_name::discovery, &session_rules::on_first_walk_late},
    {shaken, event_kind::walk_done, {}, &session_rules::on_walk_done},
    {serving, event_kind::walk_failed, {}, &session_rules::on_walk_failed},
    {serving, event_kind::timer, timer_name::discovery, &session_rules::on_walk_late},
    {shaken, event_kind::list_changed, {}, &session_rules::on_list_changed},
    {serving, event_kind::timer, timer_name::debounce, &session_rules::on_debounced},
    {serving, event_kind::timer, timer_name::refresh, &session_rules::on_refresh},
    {serving, event_kind::refresh, {}, &session_rules::on_refresh_asked},
    {shaken, event_kind::stream_up, {}, &session_rules::on_stream_up},
    {shaken, event_kind::stream_down, {}, &session_rules::on_stream_down},
    {shaken, event_kind::stream_none, {}, &session_rules::on_stream_none},
    {shaken, event_kind::timer, timer_name::listen, &session_rules::on_listen},
    {serving, event_kind::timer, timer_name::ping, &session_rules::ping},
    {serving, event_kind::ping_answered, {}, &session_rules::on_ping_answered},
    {serving, event_kind::timer, timer_name::pong, &session_rules::on_pong_late},
    {serving, event_kind::timer, timer_name::verdict, &session_rules::on_verdict_old},
    {shaken, event_kind::era_probed, {}, &session_rules::on_probed_again},
    {shaken, event_kind::timer, timer_name::start, &session_rules::on_probe_late},

    {shaken, event_kind::session_lost, {}, &session_rules::on_session_lost},
    {serving, event_kind::unreachable, {}, &session_rules::on_unreachable},
    {connecting | shaken, event_kind::lost, {}, &session_rules::on_lost},
    {waiting, event_kind::timer, timer_name::backoff, &session_rules::on_backoff_over},

    {in({stopping}), event_kind::calls_finished, {}, &session_rules::on_drained},
    {in({stopping}), event_kind::timer, timer_name::drain, &session_rules::on_drained},
    {in({stopping}), event_kind::lost, {}, &session_rules::on_gone_while_stopping},
    {in({stopping}), event_kind::connect_failed, {}, &session_rules::on_gone_while_stopping},
    {anywhere, event_kind::closed, {}, &session_rules::on_closed},
    {anywhere, event_kind::timer, timer_name::stop, &session_rules::on_closed},
};

}  // namespace

core::duration backoff_delay(const session_settings& settings, unsigned failures, double random) noexcept
{
    const auto longest = static_cast<double>(settings.backoff_longest.count());
    auto delay = static_cast<double>(settings.backoff_first.count());
    for (unsigned i = 1; i < failures && delay < longest; ++i) {
        delay *= 1.5;
    }
    delay = std::min(delay, longest);
    return core::duration{static_cast<core::duration::rep>(delay * (1.0 - std::clamp(random, 0.0, 1.0) / 2))};
}

session::session(session_settings settings)
    : settings_{settings}
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
    return event.kind == event_kind::timer && !armed_[index_of(event.fired)];
}

std::vector<session_action> session::on(const session_event& event, core::steady_time now, double random)
{
    if (stale(event)) {
        return {};
    }
    session_rules rules{*this, event, now, random, {}};
    if (event.kind == event_kind::timer) {
        armed_.reset(index_of(event.fired));
    }
    for (const auto& row : table) {
        const bool here = (row.states >> static_cast<unsigned>(state_) & 1U) != 0;
        if (here && row.kind == event.kind && (row.kind != event_kind::timer || row.fired == event.fired)) {
            (rules.*row.then)();
            break;
        }
    }
    return std::move(rules.out);
}

}  // namespace mcp
