// How a session finds out which era its server speaks: by a probe, beside which `initialize` is tried if it is not answered soon.
#include "mcp/session/session_rules.hpp"

#include <algorithm>

namespace mcp {
namespace {

using enum session_state;
using reason = session_reason;

}  // namespace

void session_rules::connect()
{
    const bool probed = s.verdict_ && now - s.verdict_at_ < s.settings_.verdict_age;
    ++s.connection_;
    s.open_ = true;
    s.probing_ = s.settings_.era == era_policy::automatic && !probed;
    act(s.probing_ ? action_kind::probe : action_kind::open);
    arm(timer_name::start, s.settings_.start_timeout);
    if (s.probing_) {
        arm(timer_name::silence, patience());
    }
}

core::duration session_rules::patience() const noexcept
{
    return std::clamp(s.settings_.start_timeout / 2, core::duration{1}, s.settings_.probe_patience);
}

void session_rules::learn(era verdict)
{
    s.verdict_ = verdict;
    s.verdict_at_ = now;
}

// Whichever connection has the first answer is the session's.
void session_rules::on_probed()
{
    if (!s.probing_ && !s.beside_) {
        return;
    }
    const bool alone = s.probing_;
    if (!event.verdict && alone) {
        return lose(reason::probe_failed, false);
    }
    if (event.verdict) {
        learn(*event.verdict);
    }
    if (event.verdict && event.stands) {
        return keep_probe(s.reason_);
    }
    disarm(timer_name::silence);
    s.probing_ = false;
    s.beside_ = false;
    if (alone) {
        act(action_kind::open);
        arm(timer_name::start, s.settings_.start_timeout);
    }
    act(action_kind::drop_probe);
}

void session_rules::keep_probe(reason why)
{
    disarm(timer_name::silence);
    s.probing_ = false;
    s.beside_ = false;
    s.kept_ = true;
    act(action_kind::keep_probe).end_session = s.handshaken_;
    shake_hands(why);
}

void session_rules::on_silence()
{
    if (s.probing_) {
        s.probing_ = false;
        s.beside_ = true;
        act(action_kind::open);
        arm(timer_name::start, std::max(s.settings_.start_timeout - patience(), patience()));
    }
}

// The probe may still be answered.
void session_rules::wait_for_probe()
{
    s.probing_ = true;
    s.beside_ = false;
    s.handshaken_ = false;
    act(action_kind::drop_connection);
    enter(starting, s.reason_);
}

// A program that cannot come up while another one of it runs has the next attempt for itself.
void session_rules::on_start_timeout()
{
    const bool asked = s.probing_ || s.beside_;
    const bool shaking = s.state_ == initializing;
    lose(s.probing_ ? reason::probe_failed : shaking ? reason::handshake_timeout : reason::start_timeout, shaking);
    if (asked && s.settings_.silence_is_legacy) {
        learn(era::legacy);
    }
}

// A modern verdict that no longer holds fails loudly; a legacy one would succeed for ever.
void session_rules::expect_old_verdict()
{
    if (s.settings_.era == era_policy::automatic && s.spoken_ == era::legacy) {
        const auto left = std::chrono::duration_cast<core::duration>(s.settings_.verdict_age - (now - s.verdict_at_));
        arm(timer_name::verdict, std::max(left, s.settings_.debounce));
    }
}

void session_rules::on_verdict_old()
{
    if (s.beside_) {
        return arm(timer_name::verdict, s.settings_.verdict_age);
    }
    s.beside_ = true;
    act(action_kind::probe);
    arm(timer_name::start, s.settings_.start_timeout);
}

void session_rules::on_probed_again()
{
    if (s.beside_) {
        probed_again(event.verdict);
    }
}

void session_rules::on_probe_late()
{
    probed_again(s.settings_.silence_is_legacy ? std::optional{era::legacy} : std::nullopt);
}

void session_rules::probed_again(std::optional<era> verdict)
{
    s.beside_ = false;
    disarm(timer_name::start);
    if (verdict) {
        learn(*verdict);
    }
    if (verdict == era::modern && event.stands) {
        end_work();
        keep_probe(reason::era_changed);
        return arm(timer_name::start, s.settings_.start_timeout);
    }
    act(action_kind::drop_probe);
    if (s.ready_since_) {
        arm(timer_name::verdict, s.settings_.verdict_age);
    }
}

}  // namespace mcp
