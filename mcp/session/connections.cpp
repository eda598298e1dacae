#include "mcp/session/connections.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcp {

connections::connections(
    session_context& host,
    transport_factory make,
    session_timers& timers,
    make_observer observe,
    std::function<void()> all_ended
)
    : host_{host},
      make_{std::move(make)},
      timers_{timers},
      observe_{std::move(observe)},
      all_ended_{std::move(all_ended)}
{
}

void connections::open()
{
    count(false);
    open(current_, false);
}

// The time that a start may take begins with its turn.
void connections::open(std::unique_ptr<connection>& into, bool probe)
{
    into = std::make_unique<connection>(connection{host_.state.connection(), probe});
    into->observer = observe_(*into);
    into->wire = make_(*into->observer);
    into->wire->set_trial(probe);
    turn_of_ = into.get();
    const auto& place = host_.settings.turns;
    if (place.turns == nullptr || (turn_ != nullptr && turn_->has_come())) {
        into->wire->open();
        return;
    }
    auto begin = [this, opened = into.get()] {
        timers_.arm_owed();
        opened->wire->open();
    };
    turn_ = place.turns->ask(std::move(begin), place.overlaps);
}

void connections::give_turn_back()
{
    turn_.reset();
    turn_of_ = nullptr;
    timers_.forget_owed();
}

void connections::count(bool another)
{
    const auto before = std::exchange(counted_, host_.state.connection());
    host_.counts.connections += another || before != counted_ ? 1 : 0;
}

void connections::keep_probe(bool end_session, bool replaces)
{
    count(current_ != nullptr && end_session && replaces);
    end_in_order(std::move(current_), end_session);
    current_ = std::move(probe_);
    current_->probe = false;
    current_->wire->set_trial(false);
}

bool connections::close(bool end_session)
{
    give_turn_back();
    auto& live = current_ != nullptr ? current_ : probe_;
    if (live == nullptr) {
        return false;
    }
    closing_ = std::move(live);
    closing_->wire->close(end_session);
    return true;
}

void connections::give_up_closing()
{
    if (closing_ != nullptr) {
        retire(std::move(closing_));
    }
}

bool connections::take_end(connection& from)
{
    if (closing_.get() != &from) {
        has_left(&from);
        return false;
    }
    retire(std::move(closing_));
    return true;
}

void connections::lose(const connection& from)
{
    retire(std::move(from.probe ? probe_ : current_));
}

// A program may have something to put in order, whatever it was asked.
void connections::end_in_order(std::unique_ptr<connection> ended, bool end_session)
{
    if (ended == nullptr) {
        return;
    }
    if (turn_of_ == ended.get()) {
        // The session goes on with another connection, and counts what this one's turn held up as running.
        turn_.reset();
        timers_.arm_owed();
        turn_of_ = nullptr;
    }
    auto& last = leaving_.emplace_back(
        leaving{std::move(ended), timer{host_.loop.get_executor(), host_.settings.states.stop_timeout}}
    );
    last.ended->wire->set_trial(true);  // another one serves: its last messages say nothing of the server
    const auto* const left = last.ended.get();
    last.deadline.async_wait([this, left, alive = std::weak_ptr<bool>{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            has_left(left);
        }
    });
    last.ended->wire->close(end_session);
}

void connections::has_left(const connection* ended)
{
    const auto found = std::ranges::find(leaving_, ended, [](const auto& each) { return each.ended.get(); });
    if (found == leaving_.end()) {
        return;
    }
    retire(std::move(found->ended));
    leaving_.erase(found);
    if (leaving_.empty()) {
        all_ended_();
    }
}

// A transport's report may end it, so it is destroyed only after the call. The observer that it refers to stays as long.
void connections::retire(std::unique_ptr<connection> ended)
{
    auto drop = [kept = host_.keep(), gone = std::shared_ptr<connection>{std::move(ended)}] {};
    net::asio::post(host_.loop.get_executor(), std::move(drop));
}

void connections::drop_all()
{
    give_turn_back();
    probe_.reset();
    current_.reset();
    closing_.reset();
    leaving_.clear();
}

}  // namespace mcp
