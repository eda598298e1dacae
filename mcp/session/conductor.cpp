#include "mcp/session/conductor.hpp"

#include <chrono>
#include <utility>

namespace mcp {

conductor::conductor(
    net::loop& on,
    runner_settings settings,
    transport_factory make,
    runner_observer& observer,
    operator_notes notes
)
    : loop_{on},
      settings_{std::move(settings)},
      observer_{&observer},
      notes_{std::move(notes)},
      session_{settings_.states},
      timers_{on, *this},
      lane_{on.get_executor(), [this](outgoing message) { return send_for_caller(std::move(message)); }},
      conversation_{*this, settings_, connections_, notes_},
      connections_{*this, settings_, std::move(make), timers_, conversation_}
{
}

void conductor::happened(session_event event)
{
    if (about_session(event.kind)) {
        event.of = session_.generation();
    }
    waiting_.push_back(std::move(event));
    if (std::exchange(busy_, true)) {
        return;
    }
    const auto kept = keep();
    while (!waiting_.empty()) {
        const auto next = std::move(waiting_.front());
        waiting_.pop_front();
        const auto random = std::uniform_real_distribution<>{0.0, 1.0}(random_);
        for (const auto& each : session_.on(next, std::chrono::steady_clock::now(), random)) {
            carry_out(each);
        }
    }
    busy_ = false;
}

void conductor::set_walk(core::duration interval)
{
    if (std::exchange(settings_.states.walk, interval) != interval) {
        session_.set_walk(interval);
        happened({.kind = event_kind::refresh});
    }
}

void conductor::abandon()
{
    observer_ = nullptr;
    lane_.abandon();
    conversation_.abandon();
    timers_.disarm_all();
    connections_.drop_all();
}

std::optional<core::steady_time> conductor::next_attempt() const noexcept
{
    const bool waits = session_.state() == session_state::backoff || session_.state() == session_state::failed;
    return waits ? std::optional{timers_.expiry(timer_name::backoff)} : std::nullopt;
}

std::size_t conductor::queued() const noexcept
{
    auto* const current = connections_.current();
    return current == nullptr ? 0 : current->wire().queued();
}

void conductor::carry_out(const session_action& action)
{
    switch (action.kind) {
        case action_kind::probe:
            conversation_.begin_attempt();
            return connections_.open_probe();
        case action_kind::keep_probe:
            return keep_probe(action.end_session);
        case action_kind::drop_probe:
            return connections_.drop_probe();
        case action_kind::open:
            conversation_.begin_attempt();
            return connections_.open();
        case action_kind::drop_connection:
            return drop_connection();
        case action_kind::close:
            return close(action.end_session);
        case action_kind::send_initialize:
        case action_kind::send_discover:
            return conversation_.shake_hands(action);
        case action_kind::send_initialized:
            return conversation_.send_initialized();
        case action_kind::open_stream:
            return conversation_.open_stream();
        case action_kind::walk:
            return walks().begin(action.changed_only);
        case action_kind::finish_walk:
            return walks().finish();
        case action_kind::cancel_walk:
            return walks().cancel();
        case action_kind::publish:
            return walks().publish();
        case action_kind::send_ping:
            return ping();
        case action_kind::cancel_ping:
            return conversation_.cancel_ping();
        case action_kind::arm:
            return arm(action.timer, action.after);
        case action_kind::disarm:
            return timers_.disarm(action.timer);
        case action_kind::report:
            return report(action);
    }
}

void conductor::keep_probe(bool end_session)
{
    if (connections_.current() != nullptr) {
        conversation_.forget();
    }
    connections_.keep_probe(end_session, ready_since_.has_value());
}

void conductor::drop_connection()
{
    if (connections_.current() != nullptr) {
        conversation_.forget();
        connections_.drop_current();
    }
}

void conductor::close(bool end_session)
{
    conversation_.forget();
    if (!connections_.close(end_session)) {
        session_event event;
        event.kind = event_kind::closed;
        event.of = session_.connection();
        happened(std::move(event));
    }
}

// The time that a start may take begins with its turn.
void conductor::arm(timer_name name, core::duration after)
{
    const bool of_start = name == timer_name::start || name == timer_name::silence;
    if (of_start && connections_.waits_for_turn()) {
        return timers_.owe(name, after);
    }
    timers_.arm(name, after);
}

void conductor::fired(timer_name name)
{
    if (name == timer_name::stop) {
        connections_.give_up_closing();
    }
    if (name == timer_name::start) {
        conversation_.on_late_start();
    }
    session_event event;
    event.kind = event_kind::timer;
    event.fired = name;
    happened(std::move(event));
}

void conductor::all_ended()
{
    if (const auto last = std::exchange(last_report_, std::nullopt)) {
        const auto kept = keep();
        report(*last);
    }
}

void conductor::report(const session_action& action)
{
    // Whoever hears of it may let go of the runner, and of what has not ended yet.
    if (action.state == session_state::stopped && connections_.ending()) {
        last_report_ = action;
        return;
    }
    if (action.state == session_state::starting) {
        ++counts_.attempts;
    }
    if (action.state != session_state::starting && action.state != session_state::initializing) {
        connections_.give_turn_back();
    }
    const bool serves = action.state == session_state::ready || action.state == session_state::degraded;
    if (!serves) {
        ready_since_.reset();
        lane_.close();
    } else if (!ready_since_) {
        ready_since_ = std::chrono::steady_clock::now();
        if (auto* const current = connections_.current()) {
            current->wire().serves();
        }
        lane_.open();
    }
    notes_.report(action, session_.version());
    if (observer_ != nullptr) {
        observer_->session_changed(action.state, action.reason);
    }
}

// A server that does one thing after the other answers no ping during a call, and is there all the same.
void conductor::ping()
{
    if (lane_.is_busy(std::chrono::steady_clock::now(), settings_.call_timeout)) {
        return happened({.kind = event_kind::ping_answered});
    }
    conversation_.send_ping();
}

core::result<> conductor::send_for_caller(outgoing message)
{
    auto* const current = connections_.current();
    if (current == nullptr) {
        return core::upstream_error(core::errc::upstream_reset, "there is no connection");
    }
    auto sent = current->wire().send(std::move(message));
    counts_.sent += sent ? 1 : 0;
    return sent;
}

}  // namespace mcp
