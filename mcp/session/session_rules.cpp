#include "mcp/session/session_rules.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

using enum session_state;
using reason = session_reason;

}  // namespace

session_action& session_rules::act(action_kind kind)
{
    auto& made = out.emplace_back();
    made.kind = kind;
    return made;
}

void session_rules::arm(timer_name timer, core::duration after)
{
    s.armed_.set(index_of(timer));
    auto& made = act(action_kind::arm);
    made.timer = timer;
    made.after = after;
}

void session_rules::disarm(timer_name timer)
{
    if (s.armed_[index_of(timer)]) {
        s.armed_.reset(index_of(timer));
        act(action_kind::disarm).timer = timer;
    }
}

// What waits for a connection to be closed goes on waiting.
void session_rules::disarm_all()
{
    for (std::size_t i = 0; i < timer_names; ++i) {
        if (!(s.closing_ && i == index_of(timer_name::stop))) {
            disarm(static_cast<timer_name>(i));
        }
    }
}

void session_rules::enter(session_state state, reason why)
{
    if (s.state_ == state && s.reason_ == why) {
        return;
    }
    s.state_ = state;
    s.reason_ = why;
    auto& made = act(action_kind::report);
    made.state = state;
    made.reason = why;
}

void session_rules::end_work()
{
    disarm_all();
    if (std::exchange(s.walking_, false)) {
        act(action_kind::cancel_walk);
    }
    if (std::exchange(s.beside_, false)) {
        act(action_kind::drop_probe);
    }
    s.changed_ = false;
    s.changes_ = 0;
    s.listened_ = false;
    s.missed_ = false;
    s.stream_failures_ = 0;
    s.walk_failures_ = 0;
    s.stream_since_.reset();
    s.pinged_ = false;
    s.missed_pings_ = 0;
    s.troubles_.reset();
    s.ready_since_.reset();
}

void session_rules::close(bool end_session)
{
    if (std::exchange(s.open_, false)) {
        act(action_kind::close).end_session = end_session;
        s.closing_ = true;
        arm(timer_name::stop, s.settings_.stop_timeout);
    }
    s.probing_ = false;
    s.kept_ = false;
    s.handshaken_ = false;
}

void session_rules::begin_attempt()
{
    disarm(timer_name::backoff);
    enter(starting, s.reason_);
    if (!s.closing_) {
        connect();
    }
}

void session_rules::on_connect_failed()
{
    if (s.beside_) {
        return wait_for_probe();
    }
    s.open_ = false;
    lose(reason::start_failed, false);
}

void session_rules::on_connected()
{
    if (!s.probing_) {
        shake_hands(s.reason_);
    }
}

void session_rules::shake_hands_again()
{
    shake_hands(reason::session_lost);
    arm(timer_name::start, s.settings_.start_timeout);
}

void session_rules::shake_hands(reason why)
{
    const auto policy = s.settings_.era;
    const bool modern = policy == era_policy::modern || (policy == era_policy::automatic && s.verdict_ == era::modern);
    s.spoken_ = modern ? era::modern : era::legacy;
    s.version_ = {};
    s.handshaken_ = true;
    ++s.generation_;
    enter(initializing, why);
    act(modern ? action_kind::send_discover : action_kind::send_initialize).version = latest(s.spoken_);
}

void session_rules::on_handshake_done()
{
    const auto spoken = versions(s.spoken_);
    const auto known = std::ranges::find(spoken, event.version);
    if (known == spoken.end()) {
        return on_handshake_refused();
    }
    s.version_ = *known;
    if (s.beside_) {
        learn(s.spoken_);  // until the probe says something else, for which it has what is left of the start's time
    } else {
        disarm(timer_name::start);
    }
    if (s.spoken_ == era::legacy) {
        act(action_kind::send_initialized);
    }
    enter(discovering, s.reason_);
    act(action_kind::open_stream);
    walk(false);
}

void session_rules::on_handshake_refused()
{
    if (s.beside_) {
        return wait_for_probe();
    }
    lose(reason::handshake_refused, true);
}

void session_rules::on_nobody_there()
{
    if (s.beside_) {
        return wait_for_probe();
    }
    lose(reason::start_failed, false);
}

void session_rules::on_lost()
{
    if (s.beside_ && (s.state_ == starting || s.state_ == initializing)) {
        return wait_for_probe();
    }
    s.open_ = false;
    lose(reason::exited, true);
}

void session_rules::lose(reason why, bool crash)
{
    if (s.ready_since_ && now - *s.ready_since_ >= s.settings_.steady_after) {
        s.failures_ = 0;
    }
    // A program that was asked for its era may have minded that: the next one is not.
    const bool minded = s.kept_ && s.verdict_ == era::legacy;
    if ((why == reason::handshake_refused || why == reason::handshake_timeout) && !minded) {
        s.verdict_.reset();
    }
    end_work();
    close(s.handshaken_ && why != reason::session_lost);
    ++s.failures_;
    if (crash) {
        s.crashes_.push_back(now);
    }
    while (!s.crashes_.empty() && now - s.crashes_.front() >= s.settings_.crash_window) {
        s.crashes_.pop_front();
    }
    if (s.trial_ || s.crashes_.size() >= s.settings_.crashes) {
        s.crashes_.clear();
        enter(failed, why);
        return arm(timer_name::backoff, s.settings_.crash_rest);
    }
    enter(backoff, why);
    arm(timer_name::backoff, backoff_delay(s.settings_, s.failures_, random));
}

void session_rules::on_backoff_over()
{
    s.trial_ = s.state_ == failed;
    begin_attempt();
}

// A server that forgets sessions as soon as they are made must not be asked in a circle.
void session_rules::on_session_lost()
{
    if (!s.ready_since_ || now - *s.ready_since_ < s.settings_.steady_after) {
        return lose(reason::session_lost, false);
    }
    s.failures_ = 0;
    end_work();
    shake_hands_again();
}

void session_rules::on_unreachable()
{
    lose(reason::unreachable, false);
}

void session_rules::on_begin()
{
    if (!s.settings_.lazy) {
        begin_attempt();
    }
}

void session_rules::on_restart()
{
    s.failures_ = 0;
    s.crashes_.clear();
    s.trial_ = false;
    const bool end_session = s.handshaken_;
    end_work();
    close(end_session);
    begin_attempt();
}

void session_rules::on_enable()
{
    enter(configured);
    on_begin();
}

void session_rules::on_stop()
{
    s.goal_ = event.kind == event_kind::stop ? after_stop::stopped : after_stop::disabled;
    const bool has_calls = s.ready_since_.has_value();
    end_work();
    enter(stopping);
    if (has_calls) {
        act(action_kind::finish_calls);
        arm(timer_name::drain, s.settings_.drain_timeout);
    } else {
        leave();
    }
}

void session_rules::on_other_goal()
{
    if (event.kind == event_kind::stop) {
        s.goal_ = after_stop::stopped;
    } else if (s.goal_ != after_stop::stopped) {
        s.goal_ = event.kind == event_kind::enable ? after_stop::configured : after_stop::disabled;
    }
}

void session_rules::on_drained()
{
    if (s.open_) {
        disarm(timer_name::drain);
        leave();
    }
}

void session_rules::leave()
{
    close(s.handshaken_);
    if (!s.closing_) {
        rest();
    }
}

void session_rules::on_gone_while_stopping()
{
    s.open_ = false;
    end_work();
    leave();
}

void session_rules::on_closed()
{
    if (!std::exchange(s.closing_, false)) {
        return;
    }
    disarm(timer_name::stop);
    if (s.state_ == starting) {
        connect();
    } else if (s.state_ == stopping) {
        rest();
    }
}

void session_rules::rest()
{
    switch (s.goal_) {
        case after_stop::stopped:
            return enter(stopped);
        case after_stop::disabled:
            return enter(disabled);
        case after_stop::configured:
            return on_enable();
    }
}

}  // namespace mcp
