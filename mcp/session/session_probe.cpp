#include "mcp/session/session_probe.hpp"

#include <algorithm>
#include <utility>

namespace mcp {

era session_probe::spoken() const noexcept
{
    const auto policy = settings_.era;
    const bool modern = policy == era_policy::modern || (policy == era_policy::automatic && verdict_ == era::modern);
    return modern ? era::modern : era::legacy;
}

void session_probe::learn(era verdict, core::steady_time now)
{
    learned_ = true;
    verdict_ = verdict;
    verdict_at_ = now;
}

void session_probe::shaken(era spoken) noexcept
{
    if (const auto doubted = std::exchange(doubted_, std::nullopt)) {
        contradicts_itself_ = *doubted == spoken;
    }
}

void session_probe::begin(session_step& step)
{
    learned_ = false;
    told_nothing_ = false;
    const bool known = verdict_ && step.now() - verdict_at_ < settings_.verdict_age;
    alone_ = settings_.era == era_policy::automatic && !known;
    step.act(alone_ ? action_kind::probe : action_kind::open);
    step.arm(timer_name::start, settings_.start_timeout);
    if (alone_) {
        step.arm(timer_name::silence, patience());
    }
}

core::duration session_probe::patience() const noexcept
{
    return std::clamp(settings_.start_timeout / 2, core::duration{1}, settings_.probe_patience);
}

void session_probe::on_silence(session_step& step)
{
    if (alone_) {
        alone_ = false;
        beside_ = true;
        step.act(action_kind::open);
        step.arm(timer_name::start, std::max(settings_.start_timeout - patience(), patience()));
    }
}

void session_probe::keep(session_step& step, bool end_session)
{
    step.disarm(timer_name::silence);
    alone_ = false;
    beside_ = false;
    kept_ = true;
    step.act(action_kind::keep_probe).end_session = end_session;
}

void session_probe::leave(session_step& step)
{
    step.disarm(timer_name::silence);
    beside_ = false;
    if (std::exchange(alone_, false)) {
        step.act(action_kind::open);
        step.arm(timer_name::start, settings_.start_timeout);
    }
    step.act(action_kind::drop_probe);
}

void session_probe::wait(session_step& step)
{
    alone_ = true;
    beside_ = false;
    step.act(action_kind::drop_connection);
}

void session_probe::end(session_step& step)
{
    if (std::exchange(beside_, false)) {
        step.act(action_kind::drop_probe);
    }
}

void session_probe::forget_attempt() noexcept
{
    alone_ = false;
    kept_ = false;
}

}  // namespace mcp
