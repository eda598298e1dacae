#include "mcp/session/list_refresh.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

// A server that does not know a list, and does not say so, must not keep its card back for long.
constexpr core::duration undeclared_patience{3'000};

}  // namespace

list_refresh::list_refresh(session_context& host, requests& open)
    : host_{host},
      requests_{open}
{
}

void list_refresh::set_server(server_facts facts, dialect speaks)
{
    facts_ = std::move(facts);
    dialect_ = std::move(speaks);
    tracker_.take();
}

void list_refresh::begin(bool changed_only)
{
    requests_.cancel_all(purpose::list);
    why_next_.reset();
    why_left_.reset();
    const auto changed = tracker_.take();
    walk_.emplace(walk_of(changed_only ? changed & facts_.offers : facts_.offers | facts_.undeclared));
    walk_->set_undeclared(facts_.undeclared, facts_.offers);
    base_ = base_of_walk(changed_only);
    ask_next();
}

list_reader list_refresh::walk_of(list_set wanted) const
{
    return {wanted, facts_.speaks, host_.settings.lists, host_.settings.headers};
}

// A list that cannot be had stays as it was; one that is no longer offered does not.
server_lists list_refresh::base_of_walk(bool changed_only) const
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

void list_refresh::ask(purpose use, const list_question& question)
{
    const std::string name{method(question.list)};
    const auto* const walk = under_way(use);
    const bool doubtful = walk != nullptr && walk->asks_doubted();
    const auto patience =
        doubtful ? std::min(host_.settings.request_timeout, undeclared_patience) : host_.settings.request_timeout;
    const auto id = requests_.begin(use, patience, name);
    requests_.send({list_request(id, question.list, question.cursor, dialect_), id, name});
}

void list_refresh::ask_next()
{
    const auto question = walk_ ? walk_->next() : std::nullopt;
    if (question) {
        return ask(purpose::list, *question);
    }
    end();
}

// Null: there is none.
list_reader* list_refresh::under_way(purpose use)
{
    if (use == purpose::list) {
        return walk_ ? &*walk_ : nullptr;
    }
    return look_ ? &look_->walk : nullptr;
}

void list_refresh::accept(purpose use, const message& answer, list_page* page)
{
    auto* const walk = under_way(use);
    if (walk == nullptr) {
        return;
    }
    if (const auto asked = walk->next()) {
        lost_by_.reset(index_of(asked->list));
    }
    const bool good = answer.kind == message_kind::result;
    const auto opened = [&] { return page != nullptr ? walk->open(*page) : walk->open(answer.result); };
    if (const auto taken = good ? opened() : walk->refuse(answer.failure); !taken) {
        return go_on_without(use, taken.error());
    }
    if (good) {
        return go_on(use);
    }
    use == purpose::list ? ask_next() : ask_next_look();
}

// Other work of the loop runs between some items of a long page and the next.
void list_refresh::go_on(purpose use)
{
    auto* const walk = under_way(use);
    if (walk == nullptr || !walk->in_page()) {
        return;
    }
    if (const auto taken = walk->take_some(most_at_once); !taken) {
        return go_on_without(use, taken.error());
    }
    if (!walk->in_page()) {
        return use == purpose::list ? ask_next() : ask_next_look();
    }
    net::asio::post(host_.loop.get_executor(), [this, kept = host_.keep(), use] { go_on(use); });
}

// A list that fails is no reason to end a walk, but a look is for all of them.
void list_refresh::go_on_without(purpose use, const core::error& why)
{
    auto told = core::error{why.code, why.from, host_.notes.shown(why.detail)};
    if (use == purpose::look) {
        return end_look(told);
    }
    if (!why_left_) {
        why_left_ = std::move(told);
    }
    ask_next();
}

void list_refresh::fail(purpose use, const core::error& why)
{
    if (auto* const walk = under_way(use)) {
        walk->skip(why.detail);
        go_on_without(use, why);
    }
}

bool list_refresh::loses_session(purpose use)
{
    const auto* const walk = under_way(use);
    const auto asked = walk != nullptr ? walk->next() : std::nullopt;
    const auto before = lost_by_;
    if (asked) {
        lost_by_.set(index_of(asked->list));
    }
    return lost_by_ != before;
}

void list_refresh::forget()
{
    walk_.reset();
    end_look(core::upstream_error(core::errc::session_crashed, "its session has ended"));
}

void list_refresh::end()
{
    auto walk = std::exchange(walk_, std::nullopt);
    if (!walk) {
        return;
    }
    // Before there is a card, what is known of the server makes one.
    if (why_left_ && walk->left_all() && host_.state.state() != session_state::discovering) {
        return fail_walk(*why_left_);
    }
    host_.notes.items_omitted(walk->left_out());
    if (walk->left().any()) {
        host_.notes.walk_failed(walk->first_left());
    }
    ++host_.counts.walks;
    session_event event;
    event.kind = event_kind::walk_done;
    complete_ = walk->left().none();
    event.complete = complete_;
    found_ = std::move(*walk).onto(std::move(base_));
    found_.server.undeclared.reset();
    facts_.offers = found_.server.offers;
    facts_.undeclared &= facts_.offers;  // the others are not there
    for (auto& list : found_.left_out) {
        for (auto& each : list.first) {
            each = host_.notes.shown(each);
        }
    }
    // A list that stays as it was may be one that was not for everybody.
    found_.shareable = found_.shareable && (complete_ || latest_ == nullptr || latest_->shareable);
    event.time_to_live = found_.time_to_live;
    host_.happened(std::move(event));
}

void list_refresh::fail_walk(const core::error& why)
{
    host_.notes.walk_failed(why.detail);
    host_.happened({.kind = event_kind::walk_failed});
    tell(why);
}

// The walk takes too long.
void list_refresh::finish()
{
    const auto question = walk_ ? walk_->next() : std::nullopt;
    if (!question) {
        return;
    }
    requests_.cancel_all(purpose::list);
    const auto late = core::upstream_error(
        core::errc::upstream_timeout,
        std::string{method(question->list)} + ": its lists did not come in time"
    );
    walk_->skip_rest(late.detail);
    go_on_without(purpose::list, late);
}

// Its session has ended, for which a reason may have been given.
void list_refresh::cancel()
{
    const auto known = std::exchange(why_next_, std::nullopt);
    const bool under_way = std::exchange(walk_, std::nullopt).has_value();
    requests_.cancel_all(purpose::list);
    if (under_way) {
        tell(known.value_or(core::upstream_error(core::errc::session_crashed, "its session has ended")));
    }
}

void list_refresh::tell(const core::result<walk_outcome>& how)
{
    auto& counts = host_.counts;
    if (!how) {
        ++counts.walks_failed;
    } else if (*how == walk_outcome::changed) {
        ++counts.walks_changed;
    } else if (*how == walk_outcome::incomplete) {
        ++counts.walks_incomplete;
    }
    if (auto* const observer = host_.observer) {
        observer->walked(how);
    }
}

void list_refresh::publish()
{
    const bool changed = latest_ == nullptr || !same_content(*latest_, found_);
    latest_ = std::make_shared<const server_lists>(std::move(found_));
    found_ = {};
    if (auto* const observer = host_.observer; changed && observer != nullptr) {
        observer->listed(latest_);
    }
    tell(!complete_ ? walk_outcome::incomplete : changed ? walk_outcome::changed : walk_outcome::unchanged);
}

void list_refresh::abandon()
{
    walk_.reset();
    look_.reset();
}

void list_refresh::look(std::function<void(const look_result&)> then)
{
    const auto state = host_.state.state();
    if (state != session_state::ready && state != session_state::degraded) {
        return then(core::upstream_error(core::errc::session_not_ready));
    }
    if (look_) {
        look_->waiting.push_back(std::move(then));
        return;
    }
    auto& look = look_.emplace(side_walk{walk_of(facts_.offers), {}});
    look.waiting.push_back(std::move(then));
    ask_next_look();
}

void list_refresh::ask_next_look()
{
    if (!look_) {
        return;
    }
    if (const auto question = look_->walk.next()) {
        return ask(purpose::look, *question);
    }
    end_look(std::make_shared<const server_lists>(std::move(look_->walk).onto(base_of_walk(false))));
}

void list_refresh::end_look(const look_result& found)
{
    const auto ended = std::exchange(look_, std::nullopt);
    requests_.cancel_all(purpose::look);
    for (const auto& then : ended ? ended->waiting : decltype(ended->waiting){}) {
        then(found);
    }
}

}  // namespace mcp
