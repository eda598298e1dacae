// What is said to a server and what it says: handshake, walks, pings.
#include "mcp/http_evidence.hpp"
#include "mcp/runner_state.hpp"

#include <boost/asio/post.hpp>

namespace mcp {

std::uint64_t runner::running::begin(purpose what)
{
    const auto id = requests_.begin();
    purposes_.emplace(id, what);
    return id;
}

void runner::running::send(outgoing what)
{
    if (link_ == nullptr) {
        return;
    }
    const auto id = what.id;
    const auto sent = link_->wire->send(std::move(what));
    if (sent) {
        ++counts_.sent;
    } else if (id != 0) {
        net::asio::post(
            loop_.get_executor(),
            [self = shared_from_this(), id, of = link_->number(), why = sent.error()] {
                if (self->link_ != nullptr && self->link_->number() == of) {
                    self->take_failure(*self->link_, id, why, std::nullopt);
                }
            }
        );
    }
}

void runner::running::forget_requests()
{
    for (const auto& [id, what] : purposes_) {
        requests_.end(id);
    }
    purposes_.clear();
    walk_.reset();
    end_look(core::upstream_error(core::errc::session_crashed, "its session has ended"));
}

void runner::running::shake_hands(const session_action& what)
{
    dialect_ = {std::string{what.version}, settings_.client};
    handshake_began_ = std::chrono::steady_clock::now();
    forget_requests();
    const auto id = begin(purpose::handshake);
    const bool modern = what.kind == action_kind::send_discover;
    if (modern && link_ != nullptr) {
        link_->wire->settle(dialect_);
    }
    send(
        {modern ? discover_request(id, dialect_) : initialize_request(id, dialect_),
         id,
         modern ? "server/discover" : "initialize"}
    );
}

void runner::running::open_stream()
{
    outgoing listen;
    if (dialect_.modern()) {
        std::erase_if(purposes_, [this](const auto& each) {
            return each.second == purpose::listen && requests_.end(each.first);
        });
        const auto id = begin(purpose::listen);
        listen = {listen_request(id, dialect_), id, "subscriptions/listen"};
    }
    if (link_ != nullptr) {
        link_->wire->open_stream(std::move(listen));
    }
}

void runner::running::begin_walk(bool changed_only)
{
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
snapshot runner::running::base_of_walk(bool changed_only) const
{
    auto base = latest_ ? *latest_ : snapshot{};
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
    const auto id = begin(purpose::list);
    send({list_request(id, question->list, question->cursor, dialect_), id, std::string{method(question->list)}});
}

void runner::running::end_walk()
{
    note_left_out(walk_->left_out());
    if (walk_->left().any()) {
        note_walk_trouble(walk_->first_left());
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
    log_.write(
        core::log_level::warn,
        "mcp_items_left_out",
        {{"agent", name_}, {"count", what.count}, {"first", first}}
    );
}

void runner::running::note_walk_trouble(std::string_view why)
{
    detail_ = shown(why);
    log_.write(core::log_level::warn, "mcp_walk_failed", {{"agent", name_}, {"detail", detail_}});
}

void runner::running::walk_failed(const core::error& why)
{
    walk_.reset();
    note_walk_trouble(why.detail);
    auto told = why;
    told.detail = detail_;
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
    if (session_.state() == session_state::degraded || session_.reason() == session_reason::discovery_timeout) {
        note_walk_trouble(late.detail);
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
    for (auto each = purposes_.begin(); each != purposes_.end();) {
        if (each->second == what) {
            requests_.end(each->first);
            cancel(each->first);
            each = purposes_.erase(each);
        } else {
            ++each;
        }
    }
}

void runner::running::publish()
{
    const bool changed = latest_ == nullptr || !same_content(*latest_, found_);
    latest_ = std::make_shared<const snapshot>(std::move(found_));
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
        return end_look(std::make_shared<const snapshot>(std::move(look_->walk).onto(base_of_walk(false))));
    }
    const auto id = begin(purpose::look);
    send({list_request(id, question->list, question->cursor, dialect_), id, std::string{method(question->list)}});
}

void runner::running::end_look(const look_result& found)
{
    const auto ended = std::exchange(look_, std::nullopt);
    cancel_requests(purpose::look);
    for (const auto& then : ended ? ended->waiting : decltype(ended->waiting){}) {
        then(found);
    }
}

void runner::running::take(link& from, std::string_view text)
{
    ++counts_.received;
    const auto read = read_message(text, settings_.messages);
    if (!read) {
        const bool first = !std::exchange(from.spoke_nonsense, true);
        return refuse(from, {addressee_of(text, true), read.error(), text.size(), std::nullopt, first});
    }
    const bool answers = read->kind == message_kind::result || read->kind == message_kind::failure;
    if (answers && !read->answered()) {
        // JSON-RPC 2.0, "Response object": the id must be the request's. One that is another's is as late as any.
        const auto whom = addressee_of(text, true);
        if (whom.id && request_of(from, whom)) {
            return refuse(
                from,
                {whom, another_id(), text.size(), std::nullopt, !std::exchange(from.spoke_nonsense, true)}
            );
        }
    }
    const auto answered = read->answered();
    if (from.probe()) {
        if (answered && *answered == from.question) {
            tell_era(from, era_of_answer(*read));
        }
        return;
    }
    switch (read->kind) {
        case message_kind::request:
            send({answer_to(*read), 0, {}});
            return;
        case message_kind::notification:
            if (read->method == "notifications/subscriptions/acknowledged") {
                tell_of_session(event_kind::stream_up);
            } else if (tracker_.note(read->method, facts_.offers)) {
                tell_of_session(event_kind::list_changed);
            }
            return;
        case message_kind::result:
        case message_kind::failure:
            take_answer(answered, *read);
            return;
    }
}

void runner::running::take_answer(std::optional<std::uint64_t> id, const message& answer)
{
    const auto found = id ? purposes_.find(*id) : purposes_.end();
    if (found == purposes_.end()) {
        return;  // late, or to nothing that was asked
    }
    const auto what = found->second;
    requests_.end(*id);
    purposes_.erase(found);
    const bool good = answer.kind == message_kind::result;
    switch (what) {
        case purpose::handshake:
            return good ? take_handshake(answer.result) : refuse_handshake(shown(answer.failure.text));
        case purpose::ping: {
            const bool other_era = !good && answer.failure.code != internal_error &&
                                   era_of_answer(answer) == (dialect_.modern() ? era::legacy : era::modern);
            return tell_of_session(other_era ? event_kind::session_lost : event_kind::ping_answered);
        }
        case purpose::listen:
            return tell_of_session(
                !good && answer.failure.code == method_not_found ? event_kind::stream_up : event_kind::stream_down
            );
        case purpose::list: {
            const auto taken = good ? walk_->accept(answer.result) : walk_->refuse(answer.failure);
            return taken ? ask_next() : walk_failed(taken.error());
        }
        case purpose::look: {
            const auto taken = good ? look_->walk.accept(answer.result) : look_->walk.refuse(answer.failure);
            if (taken) {
                return ask_next_look();
            }
            return end_look(core::error{taken.error().code, taken.error().from, shown(taken.error().detail)});
        }
    }
}

void runner::running::take_handshake(std::string_view result)
{
    auto facts = dialect_.modern() ? read_discover_result(result) : read_initialize_result(result);
    if (!facts) {
        return refuse_handshake(shown(facts.error().detail));
    }
    facts_ = std::move(*facts);
    dialect_.version = facts_.protocol_version;
    tracker_.take();
    if (link_ != nullptr) {
        link_->wire->settle(dialect_);
    }
    fell_back_ = link_ != nullptr && link_->wire->fell_back();
    if (fell_back_) {
        log_.write(core::log_level::info, "mcp_fell_back", {{"agent", name_}, {"transport", "sse"}});
    }
    ++counts_.handshakes;
    counts_.latest_handshake =
        std::chrono::duration_cast<core::duration>(std::chrono::steady_clock::now() - handshake_began_);
    session_event event;
    event.kind = event_kind::handshake_done;
    event.of = session_.generation();
    event.version = facts_.protocol_version;
    happened(std::move(event));
}

void runner::running::refuse_handshake(std::string why)
{
    detail_ = std::move(why);
    tell_of_session(event_kind::handshake_refused);
}

}  // namespace mcp
