// Walks over what a server lists, and looks at it of which nothing is kept.
#include "mcp/session/runner_state.hpp"

namespace mcp {

void runner::running::begin_walk(bool changed_only)
{
    cancel_requests(purpose::list);
    const auto changed = tracker_.take();
    walk_.emplace(walk_of(changed_only ? changed & facts_.offers : facts_.offers));
    base_ = base_of_walk(changed_only);
    ask_next();
}

discovery_walk runner::running::walk_of(list_set wanted) const
{
    return {wanted, facts_.speaks, settings_.lists, settings_.headers};
}

// A list that cannot be had stays as it was; one that is no longer offered does not.
server_lists runner::running::base_of_walk(bool changed_only) const
{
    auto base = latest_ ? *latest_ : server_lists{};
    base.server = facts_;
    if (!changed_only) {
        base.time_to_live.reset();
        base.shareable = true;
    }
    for (std::size_t i = 0; i < list_kinds; ++i) {
        if (!facts_.offers[i]) {
            base.lists[i].clear();
            base.left_out[i] = {};
        }
    }
    return base;
}

void runner::running::ask_next()
{
    const auto question = walk_->next();
    if (!question) {
        return end_walk();
    }
    ask(purpose::list, *question);
}

// What a transport bounds by itself is bounded here too: programs and HTTP+SSE take a message and owe nothing.
void runner::running::ask(purpose what, const list_question& question)
{
    const auto id = begin(what);
    const std::string name{method(question.list)};
    auto& deadline = asked_.at(id).deadline.emplace(loop_.get_executor());
    deadline.expires_after(settings_.request_timeout);
    deadline.async_wait([weak = weak_from_this(), id, name](net::error_code cancelled) {
        const auto self = weak.lock();
        if (!cancelled && self != nullptr) {
            self->give_up(id, name);
        }
    });
    send({list_request(id, question.list, question.cursor, dialect_), id, name});
}

void runner::running::give_up(std::uint64_t id, const std::string& method)
{
    if (!asked_.contains(id) || link_ == nullptr) {
        return;
    }
    if (dialect_.modern()) {
        cancel(id);
    }
    take_failure(
        *link_,
        id,
        core::upstream_error(core::errc::upstream_timeout, "no answer to " + method),
        std::nullopt
    );
}

void runner::running::end_walk()
{
    note_left_out(walk_->left_out());
    if (walk_->left().any()) {
        note_walk_trouble(session_reason::refresh_failed, walk_->first_left());
    }
    ++counts_.walks;
    session_event event;
    event.kind = event_kind::walk_done;
    event.of = session_.generation();
    complete_ = walk_->left().none();
    event.complete = complete_;
    found_ = std::move(*walk_).onto(std::move(base_));
    for (auto& list : found_.left_out) {
        for (auto& each : list.first) {
            each = shown(each);
        }
    }
    // A list that stays as it was may be one that was not for everybody.
    found_.shareable = found_.shareable && (complete_ || latest_ == nullptr || latest_->shareable);
    event.time_to_live = found_.time_to_live;
    walk_.reset();
    happened(std::move(event));
}

void runner::running::note_left_out(left_out_items what) const
{
    if (what.count == 0) {
        return;
    }
    std::string first;
    for (const auto& each : what.first) {
        first.append(first.empty() ? "" : "; ").append(shown(each));
    }
    log_.write(core::log_level::warn, "mcp_items_omitted", {{"agent", name_}, {"count", what.count}, {"first", first}});
}

void runner::running::note_walk_trouble(session_reason about, std::string_view why)
{
    auto words = shown(why);
    log_.write(core::log_level::warn, "mcp_walk_failed", {{"agent", name_}, {"detail", words}});
    say(about, std::move(words));
}

void runner::running::walk_failed(const core::error& why)
{
    walk_.reset();
    const bool first = session_.state() == session_state::discovering;
    note_walk_trouble(first ? session_reason::discovery_failed : session_reason::refresh_failed, why.detail);
    auto told = why;
    told.detail = shown(why.detail);
    tell_of_session(event_kind::walk_failed);
    tell_walked(told);
}

// It takes too long, or its session has ended.
void runner::running::cancel_walk()
{
    const bool under_way = walk_.has_value();
    const auto question = under_way ? walk_->next() : std::nullopt;
    const auto asked = question ? std::string{method(question->list)} + ": " : std::string{};
    walk_.reset();
    cancel_requests(purpose::list);
    if (!under_way) {
        return;
    }
    const auto late = core::upstream_error(core::errc::upstream_timeout, asked + "its lists did not come in time");
    if (session_.reason() == session_reason::discovery_timeout) {
        note_walk_trouble(session_reason::discovery_timeout, late.detail);
    } else if (session_.state() == session_state::degraded) {
        note_walk_trouble(session_reason::refresh_failed, late.detail);
    }
    tell_walked(late);
}

void runner::running::tell_walked(const core::result<walk_outcome>& how)
{
    if (!how) {
        ++counts_.walks_failed;
    } else if (*how == walk_outcome::changed) {
        ++counts_.walks_changed;
    } else if (*how == walk_outcome::incomplete) {
        ++counts_.walks_incomplete;
    }
    if (observer_ != nullptr) {
        observer_->walked(how);
    }
}

void runner::running::cancel(std::uint64_t id)
{
    send({cancelled_notification(id, "not needed any more"), 0, "notifications/cancelled"});
}

void runner::running::cancel_requests(purpose what)
{
    for (auto each = asked_.begin(); each != asked_.end();) {
        if (each->second.what == what) {
            requests_.end(each->first);
            cancel(each->first);
            each = asked_.erase(each);
        } else {
            ++each;
        }
    }
}

// It may be answered late; one that was missed long ago is not waited for any more.
void runner::running::cancel_ping()
{
    if (asked_.contains(last_ping_)) {
        cancel(last_ping_);
    }
    const auto pings =
        std::ranges::count_if(asked_, [](const auto& each) { return each.second.what == purpose::ping; });
    auto old = pings - static_cast<std::ptrdiff_t>(settings_.states.ping_misses);
    for (auto each = asked_.begin(); old > 0; --old) {
        while (each->second.what != purpose::ping) {
            ++each;
        }
        requests_.end(each->first);
        each = asked_.erase(each);
    }
}

void runner::running::publish()
{
    const bool changed = latest_ == nullptr || !same_content(*latest_, found_);
    latest_ = std::make_shared<const server_lists>(std::move(found_));
    found_ = {};
    if (changed && observer_ != nullptr) {
        observer_->listed(latest_);
    }
    tell_walked(!complete_ ? walk_outcome::incomplete : changed ? walk_outcome::changed : walk_outcome::unchanged);
}

void runner::running::look(std::function<void(const look_result&)> then)
{
    const auto state = session_.state();
    if (state != session_state::ready && state != session_state::degraded) {
        return then(core::upstream_error(core::errc::session_not_ready));
    }
    if (look_) {
        look_->waiting.push_back(std::move(then));
        return;
    }
    look_.emplace(side_walk{walk_of(facts_.offers), {}});
    look_->waiting.push_back(std::move(then));
    ask_next_look();
}

void runner::running::ask_next_look()
{
    const auto question = look_->walk.next();
    if (!question) {
        return end_look(std::make_shared<const server_lists>(std::move(look_->walk).onto(base_of_walk(false))));
    }
    ask(purpose::look, *question);
}

void runner::running::end_look(const look_result& found)
{
    const auto ended = std::exchange(look_, std::nullopt);
    cancel_requests(purpose::look);
    for (const auto& then : ended ? ended->waiting : decltype(ended->waiting){}) {
        then(found);
    }
}

}  // namespace mcp
