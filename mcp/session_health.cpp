#include "mcp/session_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcp {
namespace {

using enum session_state;
using reason = session_reason;

std::size_t bit(session_rules::trouble which) noexcept
{
    return static_cast<std::size_t>(which);
}

}  // namespace

void session_rules::walk(bool changed_only)
{
    s.walking_ = true;
    s.changed_ = false;
    disarm(timer_name::debounce);
    disarm(timer_name::refresh);
    act(action_kind::walk).changed_only = changed_only && !s.troubles_[bit(trouble::refresh)];
    arm(timer_name::discovery, s.settings_.discovery_timeout);
}

void session_rules::on_walk_done()
{
    if (!std::exchange(s.walking_, false)) {
        return;
    }
    disarm(timer_name::discovery);
    act(action_kind::publish);
    set(trouble::refresh, !event.complete);
    if (!event.complete) {
        arm(timer_name::refresh, s.settings_.refresh_retry);
    } else if (event.time_to_live) {
        arm(timer_name::refresh, std::max(*event.time_to_live, s.settings_.refresh_shortest));
    }
    if (!s.ready_since_) {
        s.ready_since_ = now;
        s.trial_ = false;
        if (s.settings_.ping_interval.count() > 0) {
            arm(timer_name::ping, s.settings_.ping_interval);
        }
    }
    walk_over();
}

void session_rules::on_first_walk_failed()
{
    lose(reason::discovery_failed, true);
}

void session_rules::on_first_walk_late()
{
    lose(reason::discovery_timeout, true);
}

void session_rules::on_walk_failed()
{
    if (std::exchange(s.walking_, false)) {
        disarm(timer_name::discovery);
        set(trouble::refresh, true);
        arm(timer_name::refresh, s.settings_.refresh_retry);
        walk_over();
    }
}

void session_rules::on_walk_late()
{
    act(action_kind::cancel_walk);
    on_walk_failed();
}

void session_rules::walk_over()
{
    if (std::exchange(s.changed_, false)) {
        arm(timer_name::debounce, s.settings_.debounce);
    }
    settle();
}

// Armed once and not anew by each change: a storm of them delays the walk by no more than this.
void session_rules::on_list_changed()
{
    if (s.walking_) {
        s.changed_ = true;
    } else if (!s.armed_[index_of(timer_name::debounce)]) {
        arm(timer_name::debounce, s.settings_.debounce);
    }
}

void session_rules::on_debounced()
{
    walk(true);
}

void session_rules::on_refresh()
{
    walk(false);
}

void session_rules::set(trouble which, bool present)
{
    s.troubles_.set(bit(which), present);
}

void session_rules::settle()
{
    constexpr std::array reasons{reason::ping_timeout, reason::stream_down, reason::refresh_failed};
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (s.troubles_[i]) {
            return enter(degraded, reasons[i]);
        }
    }
    enter(ready);
}

void session_rules::on_stream_changed()
{
    set(trouble::stream, event.kind == event_kind::stream_down);
    if (s.state_ != discovering) {
        settle();
    }
}

void session_rules::ping()
{
    s.pinged_ = true;
    act(action_kind::send_ping);
    arm(timer_name::pong, s.settings_.ping_timeout);
}

void session_rules::on_ping_answered()
{
    if (std::exchange(s.pinged_, false)) {
        s.missed_pings_ = 0;
        disarm(timer_name::pong);
        arm(timer_name::ping, s.settings_.ping_interval);
        set(trouble::ping, false);
        settle();
    }
}

void session_rules::on_pong_late()
{
    if (++s.missed_pings_ >= s.settings_.ping_misses) {
        return lose(reason::ping_timeout, true);
    }
    set(trouble::ping, true);
    settle();
    ping();
}

}  // namespace mcp
