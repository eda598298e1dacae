#include "mcp/session/session_health.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace mcp {

void session_health::begin(session_step& step, era spoken)
{
    spoken_ = spoken;
    step.act(action_kind::open_stream);
    walk(step, false);
}

void session_health::end(session_step& step)
{
    if (current_.walking) {
        step.act(action_kind::cancel_walk);
    }
    current_ = {};
}

void session_health::walk(session_step& step, bool changed_only)
{
    current_.walking = true;
    current_.changed = false;
    const bool all = std::exchange(current_.missed, false) || current_.troubles[no_lists];
    step.disarm(timer_name::debounce);
    step.disarm(timer_name::refresh);
    partial_ = changed_only && !all;
    step.act(action_kind::walk).changed_only = partial_;
    step.arm(timer_name::discovery, settings_.discovery_timeout);
}

void session_health::on_walk_done(session_step& step)
{
    if (!std::exchange(current_.walking, false)) {
        return;
    }
    const bool complete = step.event().complete;
    step.disarm(timer_name::discovery);
    step.act(action_kind::publish);
    current_.troubles.set(no_lists, !complete);
    if (!complete) {
        retry_walk(step);
    } else {
        current_.walk_failures = 0;
        expect_walk(step);
    }
    if (!current_.ready_since) {
        current_.ready_since = step.now();
        if (settings_.ping_interval.count() > 0) {
            // Whether only its lists fail tells a ping.
            complete ? step.arm(timer_name::ping, settings_.ping_interval) : ping(step);
        }
    }
    end_walk(step);
}

void session_health::on_walk_failed(session_step& step)
{
    if (std::exchange(current_.walking, false)) {
        step.disarm(timer_name::discovery);
        current_.troubles.set(no_lists);
        retry_walk(step);
        end_walk(step);
    }
}

// A server of the legacy era may tell of changes only the session that made them. What some walks leave out must be walked as often as
// it would be without them, and not of all servers at the same moment.
void session_health::expect_walk(session_step& step)
{
    if (const auto time_to_live = step.event().time_to_live) {
        return step.arm(timer_name::refresh, std::max(*time_to_live, settings_.refresh_shortest));
    }
    if (spoken_ != era::legacy || settings_.walk.count() == 0) {
        return;
    }
    if (!partial_) {
        walked_at_ = step.now();
    }
    const core::duration sooner{
        static_cast<core::duration::rep>(static_cast<double>(settings_.walk.count()) * step.random() / 10)
    };
    const auto since = std::chrono::duration_cast<core::duration>(step.now() - walked_at_);
    const auto after = std::max(settings_.walk - sooner - since, settings_.debounce);
    // A gap in the stream since this walk began is looked into as soon as without a walk.
    step.arm(timer_name::refresh, current_.missed ? std::min(after, settings_.refresh_shortest) : after);
}

// A list that is broken for good must not be asked for as often as one that will be there in a moment.
void session_health::retry_walk(session_step& step)
{
    auto delay = settings_.refresh_retry;
    for (unsigned i = 0; i < current_.walk_failures && delay < settings_.refresh_longest; ++i) {
        delay *= 2;
    }
    ++current_.walk_failures;
    step.arm(timer_name::refresh, std::min(delay, settings_.refresh_longest));
}

void session_health::on_walk_late(session_step& step)
{
    step.act(action_kind::finish_walk);
}

void session_health::end_walk(session_step& step)
{
    if (std::exchange(current_.changed, false)) {
        step.arm(timer_name::debounce, debounce(step.now()));
    }
    settle(step);
}

// Armed once and not again by each change: a storm of them delays the walk by no more than this.
void session_health::on_list_changed(session_step& step)
{
    if (current_.walking) {
        current_.changed = true;
    } else if (!step.armed(timer_name::debounce)) {
        step.arm(timer_name::debounce, debounce(step.now()));
    }
}

// Lists that differ each time they are walked must not be walked and published without pause: after a row of changes, without
// a rest between them, each is followed later.
core::duration session_health::debounce(core::steady_time now)
{
    constexpr unsigned followed_at_once = 4;
    if (now - changed_at_ >= 2 * settings_.debounce_longest) {
        current_.changes = 0;
    }
    auto delay = settings_.debounce;
    for (auto i = followed_at_once; i < current_.changes && delay < settings_.debounce_longest; ++i) {
        delay *= 2;
    }
    return std::min(delay, std::max(settings_.debounce, settings_.debounce_longest));
}

void session_health::on_debounced(session_step& step)
{
    ++current_.changes;
    changed_at_ = step.now();
    walk(step, true);
}

void session_health::on_refresh(session_step& step)
{
    walk(step, false);
}

// A walk over all lists under way is as good as one that would begin now; one over some of them is given up for it.
void session_health::on_refresh_asked(session_step& step)
{
    if (!current_.walking || partial_) {
        walk(step, false);
    }
}

void session_health::settle(session_step& step) const
{
    constexpr std::array reasons{
        session_reason::ping_timeout,
        session_reason::stream_down,
        session_reason::refresh_failed
    };
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (current_.troubles[i]) {
            return step.enter(session_state::degraded, reasons[i]);
        }
    }
    step.enter(session_state::ready);
}

// Changes while no stream was open were not reported, also those before the first stream. A stream that is made
// again and again without having been down must not have the lists walked each time.
void session_health::on_stream_up(session_step& step)
{
    if (current_.troubles[no_stream] || !current_.listened) {
        current_.listened = true;
        current_.missed = true;
        current_.stream_since = step.now();
        on_list_changed(step);
    } else if (spoken_ == era::legacy && !std::exchange(current_.missed, true)) {
        step.arm(timer_name::refresh, settings_.refresh_shortest);
    }
    current_.troubles.reset(no_stream);
    if (step.state() != session_state::discovering) {
        settle(step);
    }
}

// A ping tells whether the server is still there.
void session_health::on_stream_down(session_step& step)
{
    const bool was_up = !current_.troubles[no_stream];
    current_.troubles.set(no_stream);
    if (spoken_ == era::modern) {
        const bool stood = current_.stream_since && step.now() - *current_.stream_since >= settings_.steady_after;
        current_.stream_failures = stood ? 1 : current_.stream_failures + 1;
        current_.stream_since.reset();
        step.arm(timer_name::listen, backoff_delay(settings_, current_.stream_failures, step.random()));
    }
    if (step.state() == session_state::discovering) {
        return;
    }
    settle(step);
    if (was_up && step.armed(timer_name::ping)) {
        step.disarm(timer_name::ping);
        ping(step);
    }
}

// Who never listened has missed nothing that a stream would have told.
void session_health::on_stream_none(session_step& step)
{
    if (current_.troubles[no_stream]) {
        on_stream_up(step);
    }
}

void session_health::on_listen(session_step& step)
{
    step.act(action_kind::open_stream);
}

void session_health::ping(session_step& step)
{
    current_.pinged = true;
    step.act(action_kind::send_ping);
    step.arm(timer_name::pong, settings_.ping_timeout);
}

void session_health::on_ping_answered(session_step& step)
{
    if (std::exchange(current_.pinged, false)) {
        current_.missed_pings = 0;
        step.disarm(timer_name::pong);
        step.arm(timer_name::ping, settings_.ping_interval);
        current_.troubles.reset(no_pong);
        settle(step);
    }
}

bool session_health::on_pong_late(session_step& step)
{
    if (++current_.missed_pings >= settings_.ping_misses) {
        return false;
    }
    step.act(action_kind::cancel_ping);
    current_.troubles.set(no_pong);
    settle(step);
    ping(step);
    return true;
}

}  // namespace mcp
