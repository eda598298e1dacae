// What is said to a server and what it says: handshake, answers, pings.
#include "mcp/protocol/http_evidence.hpp"
#include "mcp/session/runner_state.hpp"

#include <boost/asio/post.hpp>

namespace mcp {

std::uint64_t runner::running::begin(purpose what)
{
    const auto id = requests_.begin();
    asked_.emplace(id, asked{what, std::nullopt});
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
    for (const auto& [id, what] : asked_) {
        requests_.end(id);
    }
    asked_.clear();
    walk_.reset();
    end_look(core::upstream_error(core::errc::session_crashed, "its session has ended"));
}

void runner::running::shake_hands(const session_action& what)
{
    dialect_ = {std::string{what.version}, settings_.client};
    handshake_began_ = std::chrono::steady_clock::now();
    forget_requests();
    const bool modern = what.kind == action_kind::send_discover;
    if (modern && link_ != nullptr) {
        link_->wire->settle(dialect_);
        if (const auto known = std::exchange(link_->discovered, {}); !known.empty()) {
            handshake_began_ = link_->asked_at;
            return take_handshake(known);
        }
    }
    const auto id = begin(purpose::handshake);
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
        if (facts_.announces.none()) {
            return;
        }
        std::erase_if(asked_, [this](const auto& each) {
            return each.second.what == purpose::listen && requests_.end(each.first);
        });
        const auto id = begin(purpose::listen);
        listen = {listen_request(id, facts_.announces, dialect_), id, "subscriptions/listen"};
    }
    if (link_ != nullptr) {
        link_->wire->open_stream(std::move(listen));
    }
}

void runner::running::take(link& from, std::string_view text)
{
    const auto self = shared_from_this();
    const auto* const which = &from;
    for (const auto each : messages_in(text, session_.version())) {
        if (which != link_.get() && which != probe_.get()) {
            return;  // what came before has ended it
        }
        take_one(from, each);
    }
}

void runner::running::take_one(link& from, std::string_view text)
{
    ++counts_.received;
    const auto read = read_message(text, settings_.messages);
    if (!read) {
        const bool first = !std::exchange(from.spoke_nonsense, true);
        return refuse(from, {addressees_of(text), read.error(), text.size(), std::nullopt, first});
    }
    const bool answers = read->kind == message_kind::result || read->kind == message_kind::failure;
    if (answers && !read->answered()) {
        // JSON-RPC 2.0, "Response object": the id must be the request's. One that is another's is as late as any.
        const auto whom = addressee_of(text, true);
        if (whom.id && request_of(from, whom)) {
            return refuse(
                from,
                {{whom}, another_id(), text.size(), std::nullopt, !std::exchange(from.spoke_nonsense, true)}
            );
        }
    }
    const auto answered = read->answered();
    if (from.probe()) {
        if (answered && *answered == from.question) {
            const auto verdict = era_of_answer(*read);
            if (verdict == era::modern && read->kind == message_kind::result) {
                from.discovered = read->result;
            }
            tell_era(from, verdict, true);
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
    const auto found = id ? asked_.find(*id) : asked_.end();
    if (found == asked_.end()) {
        return;  // late, or to nothing that was asked
    }
    const auto what = found->second.what;
    requests_.end(*id);
    asked_.erase(found);
    const bool good = answer.kind == message_kind::result;
    switch (what) {
        case purpose::handshake:
            needs_operator_ = false;
            return good ? take_handshake(answer.result) : refuse_handshake(shown(answer.failure.text));
        case purpose::ping: {
            const bool other_era = !good && answer.failure.code != internal_error &&
                                   era_of_answer(answer) == (dialect_.modern() ? era::legacy : era::modern);
            if (!other_era) {
                words_[static_cast<std::size_t>(session_reason::ping_timeout)].clear();
            }
            return tell_of_session(other_era ? event_kind::session_lost : event_kind::ping_answered);
        }
        case purpose::listen:
            return tell_of_session(good ? event_kind::stream_down : event_kind::stream_none);
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
        log_.write(core::log_level::info, "mcp_transport_changed", {{"agent", name_}, {"transport", "sse"}});
    }
    needs_operator_ = false;
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
    refused_ = why;
    say(session_reason::handshake_refused, std::move(why));
    tell_of_session(event_kind::handshake_refused);
}

}  // namespace mcp
