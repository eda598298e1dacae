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
    walk_.emplace(changed_only ? changed & facts_.offers : facts_.offers, facts_.speaks, settings_.lists);
    base_ = changed_only && latest_ ? *latest_ : snapshot{};
    base_.server = facts_;
    ask_next();
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
    if (walk_->unusable() > 0) {
        log_.write(
            core::log_level::warn,
            "mcp_items_left_out",
            {{"agent", name_}, {"count", walk_->unusable()}, {"first", shown(walk_->first_unusable())}}
        );
    }
    ++counts_.walks;
    session_event event;
    event.kind = event_kind::walk_done;
    event.of = session_.generation();
    event.complete = walk_->left().none();
    found_ = std::move(*walk_).onto(std::move(base_));
    event.time_to_live = found_.time_to_live;
    walk_.reset();
    happened(std::move(event));
}

void runner::running::walk_failed(std::string why)
{
    walk_.reset();
    ++counts_.walks_failed;
    detail_ = shown(why);
    log_.write(core::log_level::warn, "mcp_walk_failed", {{"agent", name_}, {"detail", detail_}});
    tell_of_session(event_kind::walk_failed);
}

void runner::running::cancel_walk()
{
    walk_.reset();
    for (auto each = purposes_.begin(); each != purposes_.end();) {
        if (each->second == purpose::list) {
            requests_.end(each->first);
            send({cancelled_notification(each->first, "not needed any more"), 0, "notifications/cancelled"});
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
}

void runner::running::take(link& from, std::string_view text)
{
    ++counts_.received;
    const auto read = read_message(text, settings_.messages);
    if (!read) {
        ++counts_.refused;
        log_.write(
            core::log_level::debug,
            "mcp_message_refused",
            {{"agent", name_}, {"detail", shown(read.error().detail)}, {"size", text.size()}}
        );
        return;
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
            if (tracker_.note(read->method, facts_.offers)) {
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
        case purpose::ping:
            return tell_of_session(event_kind::ping_answered);
        case purpose::listen:
            return tell_of_session(event_kind::stream_down);
        case purpose::list: {
            const auto taken = good ? walk_->accept(answer.result) : walk_->refuse(answer.failure);
            return taken ? ask_next() : walk_failed(taken.error().detail);
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
