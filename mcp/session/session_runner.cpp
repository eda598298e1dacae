#include "mcp/session/session_runner.hpp"

#include <chrono>
#include <utility>

namespace mcp {

std::shared_ptr<session_runner> session_runner::make(
    net::loop& on,
    runner_settings settings,
    transport_factory make,
    runner_observer& observer,
    const core::logger& log,
    std::string name
)
{
    session_report notes{log, std::move(name), settings.secrets};
    auto made = std::make_shared<session_runner>(on, std::move(settings), std::move(make), observer, std::move(notes));
    auto* const raw = made.get();
    return {raw, [made = std::move(made)](session_runner*) { made->abandon(); }};
}

session_runner::session_runner(
    net::loop& on,
    runner_settings settings,
    transport_factory make,
    runner_observer& to,
    session_report notes
)
    : context_{
          .loop = on,
          .settings = std::move(settings),
          .observer = &to,
          .notes = std::move(notes),
          .state = session{context_.settings.states},
          .lane = {on.get_executor(), [this](outgoing message) { return send_for_caller(std::move(message)); }},
          .happened = [this](session_event event) { happened(std::move(event)); },
          .keep = [this] { return shared_from_this(); }
      },
      timers_{on, [this](timer_name name) { fire(name); }},
      requests_{context_, connections_, [this](auto id, const auto& why, bool late) { fail_unsent(id, why, late); }},
      walks_{context_, requests_},
      handshake_{context_, connections_, requests_, walks_},
      intake_{context_, requests_},
      connections_{
          context_,
          std::move(make),
          timers_,
          [this](connection& of) { return observe(of); },
          [this] { end_all(); }
      }
{
}

void session_runner::happened(session_event event)
{
    if (about_session(event.kind)) {
        event.of = context_.state.generation();
    }
    waiting_.push_back(std::move(event));
    if (std::exchange(busy_, true)) {
        return;
    }
    const auto kept = shared_from_this();
    while (!waiting_.empty()) {
        const auto next = std::move(waiting_.front());
        waiting_.pop_front();
        const auto random = std::uniform_real_distribution<>{0.0, 1.0}(random_);
        for (const auto& each : context_.state.on(next, std::chrono::steady_clock::now(), random)) {
            carry_out(each);
        }
    }
    busy_ = false;
}

void session_runner::set_walk(core::duration interval)
{
    if (std::exchange(context_.settings.states.walk, interval) != interval) {
        context_.state.set_walk(interval);
        happened({.kind = event_kind::refresh});
    }
}

void session_runner::abandon()
{
    context_.observer = nullptr;
    context_.lane.abandon();
    walks_.abandon();
    requests_.forget();
    timers_.disarm_all();
    connections_.drop_all();
}

void session_runner::end_look()
{
    walks_.end_look(core::upstream_error(core::errc::upstream_timeout, "its lists did not come in time"));
}

// A session that is shaking hands again has no version.
std::optional<era> session_runner::spoken() const noexcept
{
    if (const auto version = context_.state.version(); !version.empty()) {
        return era_of(version);
    }
    return latest() == nullptr ? std::nullopt : std::optional{latest()->server.speaks};
}

std::optional<core::steady_time> session_runner::next_attempt() const noexcept
{
    const bool waits =
        context_.state.state() == session_state::backoff || context_.state.state() == session_state::failed;
    return waits ? std::optional{timers_.expiry(timer_name::backoff)} : std::nullopt;
}

std::size_t session_runner::queued() const noexcept
{
    auto* const current = connections_.current();
    return current == nullptr ? 0 : current->wire->queued();
}

void session_runner::carry_out(const session_action& action)
{
    switch (action.kind) {
        case action_kind::probe:
            handshake_.begin_attempt();
            return connections_.open_probe();
        case action_kind::keep_probe:
            return keep_probe(action.end_session);
        case action_kind::drop_probe:
            return connections_.drop_probe();
        case action_kind::open:
            handshake_.begin_attempt();
            return connections_.open();
        case action_kind::drop_connection:
            return drop_connection();
        case action_kind::close:
            return close(action.end_session);
        case action_kind::send_initialize:
        case action_kind::send_discover:
            return shake_hands(action);
        case action_kind::send_initialized:
            return requests_.send({initialized_notification(), 0, "notifications/initialized"});
        case action_kind::open_stream:
            return open_stream();
        case action_kind::walk:
            return walks_.begin(action.changed_only);
        case action_kind::finish_walk:
            return walks_.finish();
        case action_kind::cancel_walk:
            return walks_.cancel();
        case action_kind::publish:
            return walks_.publish();
        case action_kind::send_ping:
            return ping();
        case action_kind::cancel_ping:
            return cancel_ping();
        case action_kind::arm:
            return arm(action.timer, action.after);
        case action_kind::disarm:
            return timers_.disarm(action.timer);
        case action_kind::report:
            return report(action);
    }
}

void session_runner::keep_probe(bool end_session)
{
    if (connections_.current() != nullptr) {
        forget();
    }
    connections_.keep_probe(end_session, ready_since_.has_value());
}

void session_runner::drop_connection()
{
    if (connections_.current() != nullptr) {
        forget();
        connections_.drop_current();
    }
}

void session_runner::close(bool end_session)
{
    forget();
    if (!connections_.close(end_session && !silent_)) {
        session_event event;
        event.kind = event_kind::closed;
        event.of = context_.state.connection();
        happened(std::move(event));
    }
}

// The time that a start may take begins with its turn.
void session_runner::arm(timer_name name, core::duration after)
{
    const bool of_start = name == timer_name::start || name == timer_name::silence;
    if (of_start && connections_.waits_for_turn()) {
        return timers_.owe(name, after);
    }
    timers_.arm(name, after);
}

void session_runner::fire(timer_name name)
{
    if (name == timer_name::stop) {
        connections_.give_up_closing();
    }
    if (name == timer_name::start) {
        handshake_.on_late_start();
    }
    session_event event;
    event.kind = event_kind::timer;
    event.fired = name;
    happened(std::move(event));
}

void session_runner::end_all()
{
    if (const auto last = std::exchange(last_report_, std::nullopt)) {
        const auto kept = shared_from_this();
        report(*last);
    }
}

void session_runner::report(const session_action& action)
{
    // The observer may let go of the runner, and of connections that have not ended yet.
    if (action.state == session_state::stopped && connections_.ending()) {
        last_report_ = action;
        return;
    }
    if (action.state == session_state::starting) {
        ++context_.counts.attempts;
    }
    if (action.state != session_state::starting && action.state != session_state::initializing) {
        connections_.give_turn_back();
    }
    const bool serves = action.state == session_state::ready || action.state == session_state::degraded;
    if (!serves) {
        ready_since_.reset();
        context_.lane.close();
    } else if (!ready_since_) {
        ready_since_ = std::chrono::steady_clock::now();
        context_.lane.open();
    }
    context_.notes.report(action, context_.state.version());
    if (context_.observer != nullptr) {
        context_.observer->session_changed(action.state, action.reason);
    }
}

core::result<> session_runner::send_for_caller(outgoing message)
{
    auto* const current = connections_.current();
    if (current == nullptr) {
        return core::upstream_error(core::errc::upstream_reset, "there is no connection");
    }
    auto sent = current->wire->send(std::move(message));
    context_.counts.sent += sent ? 1 : 0;
    return sent;
}

}  // namespace mcp
