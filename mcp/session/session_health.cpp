#include "mcp/session/session_rules.hpp"

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
    const bool all = std::exchange(s.missed_, false) || s.troubles_[bit(trouble::refresh)];
    disarm(timer_name::debounce);
    disarm(timer_name::refresh);
    s.partial_ = changed_only && !all;
    act(action_kind::walk).changed_only = s.partial_;
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
        retry_walk();
    } else {
        s.walk_failures_ = 0;
        expect_walk();
    }
    if (!s.ready_since_) {
        s.ready_since_ = now;
        s.trial_ = false;
        if (s.settings_.ping_interval.count() > 0) {
            arm(timer_name::ping, s.settings_.ping_interval);
        }
        expect_old_verdict();
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
        retry_walk();
        walk_over();
    }
}

// A server of the legacy era may tell of changes only the session that made them. What some walks leave out must be walked as often as
// it would be without them, and not of all servers at the same moment.
void session_rules::expect_walk()
{
    const auto& settings = s.settings_;
    if (event.time_to_live) {
        return arm(timer_name::refresh, std::max(*event.time_to_live, settings.refresh_shortest));
    }
    if (s.spoken_ != era::legacy || settings.walk.count() == 0) {
        return;
    }
    if (!s.partial_) {
        s.walked_at_ = now;
    }
    const core::duration sooner{
        static_cast<core::duration::rep>(static_cast<double>(settings.walk.count()) * random / 10)
    };
    const auto since = std::chrono::duration_cast<core::duration>(now - s.walked_at_);
    const auto after = std::max(settings.walk - sooner - since, settings.debounce);
    // A gap in the stream since this walk began is looked into as soon as without a walk.
    arm(timer_name::refresh, s.missed_ ? std::min(after, settings.refresh_shortest) : after);
}

// A list that is broken for good must not be asked for as often as one that will be there in a moment.
void session_rules::retry_walk()
{
    auto delay = s.settings_.refresh_retry;
    for (unsigned i = 0; i < s.walk_failures_ && delay < s.settings_.refresh_longest; ++i) {
        delay *= 2;
    }
    ++s.walk_failures_;
    arm(timer_name::refresh, std::min(delay, s.settings_.refresh_longest));
}

void session_rules::on_walk_late()
{
    act(action_kind::cancel_walk);
    on_walk_failed();
}

void session_rules::walk_over()
{
    if (std::exchange(s.changed_, false)) {
        arm(timer_name::debounce, debounce());
    }
    settle();
}

// Armed once and not again by each change: a storm of them delays the walk by no more than this.
void session_rules::on_list_changed()
{
    if (s.walking_) {
        s.changed_ = true;
    } else if (!s.armed_[index_of(timer_name::debounce)]) {
        arm(timer_name::debounce, debounce());
    }
}

// Lists that differ each time they are walked must not be walked and published without pause: after a row of changes, without
// a rest between them, each is followed later.
core::duration session_rules::debounce()
{
    constexpr unsigned followed_at_once = 4;
    const auto& settings = s.settings_;
    if (now - s.changed_at_ >= 2 * settings.debounce_longest) {
        s.changes_ = 0;
    }
    auto delay = settings.debounce;
    for (auto i = followed_at_once; i < s.changes_ && delay < settings.debounce_longest; ++i) {
        delay *= 2;
    }
    return std::min(delay, std::max(settings.debounce, settings.debounce_longest));
}

void session_rules::on_debounced()
{
    ++s.changes_;
    s.changed_at_ = now;
    walk(true);
}

void session_rules::on_refresh()
{
    walk(false);
}

// A walk over all lists under way is as good as one that would begin now; one over some of them is given up for it.
void session_rules::on_refresh_asked()
{
    if (!s.walking_ || s.partial_) {
        walk(false);
    }
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

// What changed while nobody listened was not told, also not before the stream stood for the first time. One that is made
// again and again without having been down must not have the lists walked each time.
void session_rules::on_stream_up()
{
    if (s.troubles_[bit(trouble::stream)] || !s.listened_) {
        s.listened_ = true;
        s.missed_ = true;
        s.stream_since_ = now;
        on_list_changed();
    } else if (s.spoken_ == era::legacy && !std::exchange(s.missed_, true)) {
        arm(timer_name::refresh, s.settings_.refresh_shortest);
    }
    set(trouble::stream, false);
    if (s.state_ != discovering) {
        settle();
    }
}

// Whether the server is still there says a ping.
void session_rules::on_stream_down()
{
    const bool was_up = !s.troubles_[bit(trouble::stream)];
    set(trouble::stream, true);
    if (s.spoken_ == era::modern) {
        const bool stood = s.stream_since_ && now - *s.stream_since_ >= s.settings_.steady_after;
        s.stream_failures_ = stood ? 1 : s.stream_failures_ + 1;
        s.stream_since_.reset();
        arm(timer_name::listen, backoff_delay(s.settings_, s.stream_failures_, random));
    }
    if (s.state_ == discovering) {
        return;
    }
    settle();
    if (was_up && s.armed_[index_of(timer_name::ping)]) {
        disarm(timer_name::ping);
        ping();
    }
}

// Who never listened has missed nothing that a stream would have told.
void session_rules::on_stream_none()
{
    if (s.troubles_[bit(trouble::stream)]) {
        on_stream_up();
    }
}

void session_rules::on_listen()
{
    act(action_kind::open_stream);
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
    act(action_kind::cancel_ping);
    set(trouble::ping, true);
    settle();
    ping();
}

}  // namespace mcp
