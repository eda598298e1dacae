#include "mcp/runner.hpp"

#include "mcp/runner_state.hpp"

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

// Nobody is told of anything from now on.
void runner::running::abandon()
{
    observer_ = nullptr;
    for (auto& each : timers_) {
        each->cancel();
    }
    probe_.reset();
    link_.reset();
    closing_.reset();
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

// What a transport tells may end it, so that it is let go of only after the call.
void runner::running::retire(std::unique_ptr<link> which)
{
    net::asio::post(loop_.get_executor(), [gone = std::shared_ptr<link>{std::move(which)}] {});
}

void runner::running::carry_out(const session_action& what)
{
    switch (what.kind) {
        case action_kind::probe:
            open(probe_, true);
            return;
        case action_kind::open:
            if (probe_ != nullptr) {
                retire(std::move(probe_));
            }
            ++counts_.connections;
            open(link_, false);
            return;
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
            send({ping_request(id, dialect_), id, dialect_.modern() ? "server/discover" : "ping"});
            return;
        }
        case action_kind::finish_calls:
            return tell(event_kind::calls_finished);
        case action_kind::arm:
            return arm(what.timer, what.after);
        case action_kind::disarm:
            return disarm(what.timer);
        case action_kind::report:
            return report(what);
    }
}

void runner::running::open(std::unique_ptr<link>& into, bool probe)
{
    into = std::make_unique<link>(*this, probe, session_.connection());
    into->wire = make_(*into);
    into->wire->open();
}

void runner::running::close(bool end_session)
{
    forget_requests();
    auto& which = link_ != nullptr ? link_ : probe_;
    if (which == nullptr) {
        return tell_of(event_kind::closed, session_.connection());
    }
    closing_ = std::move(which);
    closing_->wire->close(end_session);
}

void runner::running::arm(timer_name which, core::duration after)
{
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
        session_event event;
        event.kind = event_kind::timer;
        event.fired = which;
        self->happened(std::move(event));
    });
}

void runner::running::disarm(timer_name which)
{
    ++armings_[static_cast<std::size_t>(which)];
    timers_[static_cast<std::size_t>(which)]->cancel();
}

void runner::running::report(const session_action& what)
{
    const bool serves = what.state == session_state::ready || what.state == session_state::degraded;
    if (!serves) {
        ready_since_.reset();
    } else if (!ready_since_) {
        ready_since_ = std::chrono::steady_clock::now();
    }
    const bool trouble = what.state == session_state::backoff || what.state == session_state::failed ||
                         what.state == session_state::degraded;
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

void runner::running::ask_for_era(link& which)
{
    const dialect modern{std::string{mcp::latest(era::modern)}, settings_.client};
    which.question = requests_.begin();
    if (!which.wire->send({discover_request(which.question, modern), which.question, "server/discover"})) {
        tell_era(which, std::nullopt);
    }
}

void runner::running::tell_era(const link& which, std::optional<era> verdict)
{
    session_event event;
    event.kind = event_kind::era_probed;
    event.of = which.number();
    event.verdict = verdict;
    happened(std::move(event));
}

void runner::running::take_failure(link& from, std::uint64_t request, const core::error& why, std::optional<era> says)
{
    if (from.probe()) {
        return tell_era(from, says);
    }
    const auto found = purposes_.find(request);
    if (found == purposes_.end()) {
        return;
    }
    const auto what = found->second;
    requests_.end(request);
    purposes_.erase(found);
    auto detail = shown(std::string{core::name(why.code)} + ": " + why.detail);
    switch (what) {
        case purpose::handshake:
            return refuse_handshake(std::move(detail));
        case purpose::list:
            return walk_failed(std::move(detail));
        case purpose::listen:
            return tell_of_session(event_kind::stream_down);
        case purpose::ping:
            return;  // its timer tells
    }
}

// A program that ends when it is asked for its era knows only the older one.
void runner::running::take_loss(link& from, const core::error& why)
{
    detail_ = shown(why.detail);
    if (from.probe() && from.was_connected() && settings_.states.silence_is_legacy) {
        return tell_era(from, era::legacy);
    }
    auto gone = std::move(from.probe() ? probe_ : link_);
    const auto number = from.number();
    const bool connected = from.was_connected() && !from.probe();
    retire(std::move(gone));
    forget_requests();
    tell_of(connected ? event_kind::lost : event_kind::connect_failed, number);
}

void runner::running::take_end(link& from)
{
    const auto number = from.number();
    if (closing_.get() == &from) {
        retire(std::move(closing_));
    }
    tell_of(event_kind::closed, number);
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

void runner::restart()
{
    running_->tell(event_kind::restart);
}

void runner::stop()
{
    running_->tell(event_kind::stop);
}

session_state runner::state() const noexcept
{
    return running_->state().state();
}

session_reason runner::reason() const noexcept
{
    return running_->state().reason();
}

const std::shared_ptr<const snapshot>& runner::latest() const noexcept
{
    return running_->latest();
}

std::optional<core::steady_time> runner::ready_since() const noexcept
{
    return running_->ready_since();
}

const runner_counts& runner::counts() const noexcept
{
    return running_->counts();
}

}  // namespace mcp
