// The connections of a session: its own, a probe, and those that are ending.
#include "mcp/session/runner_state.hpp"

#include <boost/asio/post.hpp>

namespace mcp {

void runner::running::open(std::unique_ptr<link>& into, bool probe)
{
    into = std::make_unique<link>(*this, probe, session_.connection());
    into->wire = make_(*into);
    into->wire->set_trial(probe);
    turn_of_ = into.get();
    refused_.clear();
    if (settings_.turns == nullptr || (turn_ != nullptr && turn_->has_come())) {
        into->wire->open();
        return;
    }
    turn_ = settings_.turns->ask([this, which = into.get()] { open_in_turn(*which); });
}

// The time that a start may take begins with it.
void runner::running::open_in_turn(link& which)
{
    arm_owed();
    which.wire->open();
}

void runner::running::arm_owed()
{
    for (std::size_t i = 0; i < timer_names; ++i) {
        if (const auto after = std::exchange(after_turn_[i], std::nullopt)) {
            arm(static_cast<timer_name>(i), *after);
        }
    }
}

void runner::running::give_turn_back()
{
    turn_.reset();
    turn_of_ = nullptr;
    after_turn_ = {};
}

void runner::running::count_connection(bool another)
{
    const auto before = std::exchange(counted_, session_.connection());
    counts_.connections += another || before != counted_ ? 1 : 0;
}

void runner::running::ask_for_era(link& which)
{
    const dialect modern{std::string{mcp::latest(era::modern)}, settings_.client};
    which.question = requests_.begin();
    which.asked_at = std::chrono::steady_clock::now();
    if (!which.wire->send({discover_request(which.question, modern), which.question, "server/discover"})) {
        tell_era(which, std::nullopt, false);
    }
}

void runner::running::tell_era(const link& which, std::optional<era> verdict, bool stands)
{
    session_event event;
    event.kind = event_kind::era_probed;
    event.of = which.number();
    event.verdict = verdict;
    event.stands = stands;
    happened(std::move(event));
}

void runner::running::keep_probe(bool end_session)
{
    count_connection(link_ != nullptr && end_session && ready_since_.has_value());
    if (link_ != nullptr) {
        forget_requests();
        end_in_order(std::move(link_), end_session);
    }
    link_ = std::move(probe_);
    requests_.end(link_->question);
    link_->keep();
}

void runner::running::drop_probe()
{
    if (probe_ != nullptr) {
        requests_.end(probe_->question);
        end_in_order(std::move(probe_), false);
    }
}

void runner::running::drop_connection()
{
    if (link_ != nullptr) {
        forget_requests();
        end_in_order(std::move(link_), false);
    }
}

void runner::running::close(bool end_session)
{
    forget_requests();
    give_turn_back();
    auto& which = link_ != nullptr ? link_ : probe_;
    if (which == nullptr) {
        return tell_of(event_kind::closed, session_.connection());
    }
    requests_.end(which->question);
    closing_ = std::move(which);
    closing_->wire->close(end_session);
}

void runner::running::take_end(link& from)
{
    const auto number = from.number();
    if (closing_.get() != &from) {
        return has_left(&from);
    }
    retire(std::move(closing_));
    tell_of(event_kind::closed, number);
}

// A program may have something to put in order, whatever it was asked.
void runner::running::end_in_order(std::unique_ptr<link> which, bool end_session)
{
    if (turn_of_ == which.get()) {
        // The session goes on with another connection, and counts what this one's turn held up as running.
        turn_.reset();
        arm_owed();
        turn_of_ = nullptr;
    }
    auto& last =
        leaving_.emplace_back(leaving{std::move(which), timer{loop_.get_executor(), settings_.states.stop_timeout}});
    const auto* const left = last.which.get();
    last.deadline.async_wait([self = shared_from_this(), left](net::error_code cancelled) {
        if (!cancelled) {
            self->has_left(left);
        }
    });
    last.which->wire->close(end_session);
}

void runner::running::has_left(const link* which)
{
    const auto found = std::ranges::find(leaving_, which, [](const auto& each) { return each.which.get(); });
    if (found == leaving_.end()) {
        return;
    }
    retire(std::move(found->which));
    leaving_.erase(found);
    if (leaving_.empty() && last_report_) {
        report(*std::exchange(last_report_, std::nullopt));
    }
}

// What a transport tells may end it, so that it is let go of only after the call.
void runner::running::retire(std::unique_ptr<link> which)
{
    net::asio::post(loop_.get_executor(), [gone = std::shared_ptr<link>{std::move(which)}] {});
}

}  // namespace mcp
