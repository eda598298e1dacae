#include "mcp/session/runner.hpp"

#include "mcp/session/runner_state.hpp"

#include <boost/asio/post.hpp>

namespace mcp {

runner::running::running(
    net::loop& on,
    runner_settings settings,
    transport_factory make,
    runner_observer& observer,
    const core::logger& log,
    std::string name
)
    : loop_{on},
      settings_{std::move(settings)},
      make_{std::move(make)},
      observer_{&observer},
      log_{log},
      name_{std::move(name)},
      session_{settings_.states}
{
    for (auto& each : timers_) {
        each.emplace(loop_.get_executor());
    }
}

void runner::running::happened(session_event event)
{
    waiting_.push_back(std::move(event));
    if (std::exchange(busy_, true)) {
        return;
    }
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

void runner::running::tell(event_kind kind)
{
    session_event event;
    event.kind = kind;
    happened(std::move(event));
}

void runner::running::set_walk(core::duration interval)
{
    if (std::exchange(settings_.states.walk, interval) != interval) {
        session_.set_walk(interval);
        tell(event_kind::refresh);
    }
}

// Nobody is told of anything from now on.
void runner::running::abandon()
{
    observer_ = nullptr;
    look_.reset();
    asked_.clear();
    for (auto& each : timers_) {
        each->cancel();
    }
    give_turn_back();
    probe_.reset();
    link_.reset();
    closing_.reset();
    leaving_.clear();
}

void runner::running::tell_of(event_kind kind, std::uint64_t connection)
{
    session_event event;
    event.kind = kind;
    event.of = connection;
    happened(std::move(event));
}

void runner::running::tell_of_session(event_kind kind)
{
    session_event event;
    event.kind = kind;
    event.of = session_.generation();
    happened(std::move(event));
}

void runner::running::carry_out(const session_action& what)
{
    switch (what.kind) {
        case action_kind::probe:
            return open(probe_, true);
        case action_kind::keep_probe:
            return keep_probe(what.end_session);
        case action_kind::drop_probe:
            return drop_probe();
        case action_kind::open:
            count_connection(false);
            return open(link_, false);
        case action_kind::drop_connection:
            return drop_connection();
        case action_kind::close:
            return close(what.end_session);
        case action_kind::send_initialize:
        case action_kind::send_discover:
            return shake_hands(what);
        case action_kind::send_initialized:
            send({initialized_notification(), 0, "notifications/initialized"});
            return;
        case action_kind::open_stream:
            return open_stream();
        case action_kind::walk:
            return begin_walk(what.changed_only);
        case action_kind::cancel_walk:
            return cancel_walk();
        case action_kind::publish:
            return publish();
        case action_kind::send_ping: {
            const auto id = begin(purpose::ping);
            last_ping_ = id;
            send({ping_request(id, dialect_), id, dialect_.modern() ? "server/discover" : "ping"});
            return;
        }
        case action_kind::cancel_ping:
            return cancel_ping();
        case action_kind::arm:
            return arm(what.timer, what.after);
        case action_kind::disarm:
            return disarm(what.timer);
        case action_kind::report:
            return report(what);
    }
}

void runner::running::arm(timer_name which, core::duration after)
{
    if ((which == timer_name::start || which == timer_name::silence) && turn_ != nullptr && turn_->waits()) {
        disarm(which);  // that of the probe before
        after_turn_[static_cast<std::size_t>(which)] = after;
        return;
    }
    const auto number = ++armings_[static_cast<std::size_t>(which)];
    auto& t = *timers_[static_cast<std::size_t>(which)];
    t.expires_after(after);
    t.async_wait([self = shared_from_this(), which, number](net::error_code cancelled) {
        if (cancelled || self->armings_[static_cast<std::size_t>(which)] != number || self->observer_ == nullptr) {
            return;
        }
        if (which == timer_name::stop && self->closing_ != nullptr) {
            self->retire(std::move(self->closing_));
        }
        if (which == timer_name::start) {
            self->take_late_start();
        }
        session_event event;
        event.kind = event_kind::timer;
        event.fired = which;
        self->happened(std::move(event));
    });
}

void runner::running::disarm(timer_name which)
{
    after_turn_[static_cast<std::size_t>(which)].reset();
    ++armings_[static_cast<std::size_t>(which)];
    timers_[static_cast<std::size_t>(which)]->cancel();
}

void runner::running::report(const session_action& what)
{
    // Whoever hears of it may let go of the runner, and of what has not ended yet.
    if (what.state == session_state::stopped && !leaving_.empty()) {
        last_report_ = what;
        return;
    }
    const bool starts = what.state == session_state::starting || what.state == session_state::initializing;
    if (!starts) {
        give_turn_back();
    }
    const bool serves = what.state == session_state::ready || what.state == session_state::degraded;
    if (!serves) {
        ready_since_.reset();
    } else if (!ready_since_) {
        ready_since_ = std::chrono::steady_clock::now();
        if (link_ != nullptr) {
            link_->wire->serves();
        }
    }
    const bool trouble = what.state == session_state::backoff || what.state == session_state::failed ||
                         what.state == session_state::degraded;
    describe(what, trouble);
    log_.write(
        trouble ? core::log_level::warn : core::log_level::info,
        "mcp_session",
        {{"agent", name_},
         {"state", name(what.state)},
         {"reason", name(what.reason)},
         {"detail", trouble ? detail_ : std::string{}},
         {"version", session_.version()}}
    );
    if (observer_ != nullptr) {
        observer_->session_changed(what.state, what.reason);
    }
}

runner::runner(
    net::loop& on,
    runner_settings settings,
    transport_factory make,
    runner_observer& observer,
    const core::logger& log,
    std::string name
)
    : running_{std::make_shared<running>(on, std::move(settings), std::move(make), observer, log, std::move(name))}
{
}

runner::~runner()
{
    running_->abandon();
}

void runner::begin()
{
    running_->tell(event_kind::begin);
}

void runner::demand()
{
    running_->tell(event_kind::demand);
}

void runner::stop()
{
    running_->tell(event_kind::stop);
}

void runner::refresh()
{
    running_->tell(event_kind::refresh);
}

void runner::set_walk(core::duration interval)
{
    running_->set_walk(interval);
}

void runner::look(std::function<void(const look_result&)> then)
{
    running_->look(std::move(then));
}

void runner::end_look()
{
    running_->end_look(core::upstream_error(core::errc::upstream_timeout, "its lists did not come in time"));
}

session_state runner::state() const noexcept
{
    return running_->state().state();
}

session_reason runner::reason() const noexcept
{
    return running_->state().reason();
}

const std::string& runner::detail() const noexcept
{
    return running_->detail();
}

bool runner::needs_operator() const noexcept
{
    return running_->needs_operator();
}

const std::shared_ptr<const server_lists>& runner::latest() const noexcept
{
    return running_->latest();
}

std::optional<core::steady_time> runner::ready_since() const noexcept
{
    return running_->ready_since();
}

std::optional<core::steady_time> runner::next_attempt() const noexcept
{
    return running_->next_attempt();
}

const runner_counts& runner::counts() const noexcept
{
    return running_->counts();
}

bool runner::fell_back() const noexcept
{
    return running_->fell_back();
}

std::size_t runner::queued() const noexcept
{
    return running_->queued();
}

}  // namespace mcp
