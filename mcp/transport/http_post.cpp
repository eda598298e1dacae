#include "mcp/transport/http_post.hpp"

#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <chrono>
#include <utility>

namespace mcp {

using core::errc;

http_post::http_post(http_wire& wire, http_post_owner& owner, outgoing message, bool first)
    : wire_{wire},
      owner_{owner},
      message_{std::move(message)},
      text_{std::make_shared<const std::string>(std::move(message_.text))},
      first_{first},
      events_{static_cast<std::size_t>(wire.settings.server.max_message)}
{
    wire_.on.timers().add(*this);
    await(patience_for(message_, wire_.settings.server));
}

void http_post::await(core::duration patience)
{
    patience_ = patience;
    if (stays_open(message_.method) && !settled_) {
        return;  // nothing has to happen for it to be alive
    }
    set_due(wire_.on.now() + patience);
}

void http_post::on_due()
{
    if (settled_) {
        return owner_.over(*this, std::nullopt, std::nullopt);
    }
    fail(core::upstream_error(errc::upstream_timeout, "no answer to " + message_.method));
}

void http_post::begin()
{
    course_ = {wire_.url()};
    start();
}

void http_post::start()
{
    auto request = resuming_ ? wire_.listen(events_.last_id()) : wire_.post(message_, text_);
    request.url = course_.at;
    const bool names = resuming_ || (!wire_.modern() && message_.method != "initialize");
    named_session_ = names && !wire_.session_id.empty();
    exchange_ = wire_.start(std::move(request), *this);
}

// Others may have been on their way to the same place, and been sent on before. Where a GET leads is its own.
bool http_post::follow(const net::exchange_head& head)
{
    const bool leads = course_.at == wire_.url();
    if (!course_.follow(head)) {
        return false;
    }
    if (leads && !resuming_) {
        wire_.moved_to = course_.at;
    }
    start();
    return true;
}

bool http_post::take_session_id(const net::exchange_head& head)
{
    const auto given = head.field("mcp-session-id");
    if (message_.method != "initialize" || status_ >= 300 || given.empty()) {
        return true;
    }
    if (!is_session_id(given)) {
        return false;
    }
    wire_.session_id = given;
    return true;
}

void http_post::headed(const net::exchange_head& head)
{
    wire_.take_cookies(course_.at, head);
    if (follow(head)) {
        return;
    }
    text_.reset();
    status_ = head.status;
    if (!is_good()) {
        refusal_ = refusal_text(head, message_.method, wire_.settings);
    }
    type_ = head.field("content-type");
    page_ = head.has_type("text/html");
    json_ = head.has_type("application/json");
    streams_ = status_ == 200 && head.has_type("text/event-stream");
    if (streams_) {
        events_.begin();
    }
    if (!take_session_id(head)) {
        return refuse("the session's id is not visible ASCII");
    }
    if (message_.id == 0 && is_good()) {
        settled_ = true;
        await(wire_.settings.linger);
        owner_.settled(*this);
    }
}

void http_post::took(std::string_view piece)
{
    if (message_.of_caller && !settled_) {
        await(patience_);  // of silence
    }
    if (!streams_) {
        body_ += piece;
        return;
    }
    const std::weak_ptr<bool> alive{alive_};
    events_.feed(piece);
    while (const auto event = events_.next()) {
        if (!event->type.empty() && event->type != "message") {
            continue;
        }
        bool ours = false;
        std::optional<core::error> refused;
        if (passes_unread(event->data)) {
            unread_ = true;
            owner_.take(event->data);
        } else if (answers(event->data, ours, refused)) {
            if (ours && !settled_) {
                tell_answer(event->data);
            }
        } else {
            owner_.take(event->data);
        }
        if (alive.expired()) {
            return;
        }
        if (refused && !settled_) {
            return fail(std::move(*refused));
        }
    }
    if (events_.too_large()) {
        fail(core::upstream_error(errc::message_too_large, "an event is over max_message"));
    }
}

// Long ones are read by whoever gets them, away from the loop (offloading_transport.hpp). That one finds out whether it is the answer, and
// takes no exception to a failure that is told behind that.
bool http_post::passes_unread(std::string_view text) const noexcept
{
    return message_.id != 0 && text.size() > read_at_once;
}

// Whether it is an answer; `ours`: to this request; `refused`: it was to be that, and why it is not.
bool http_post::answers(
    std::string_view text,
    bool& ours,
    std::optional<core::error>& refused,
    const core::result<message>* known
)
{
    const message_limits limits{.bytes = static_cast<std::size_t>(wire_.settings.server.max_message)};
    const auto texts = messages_in(text, wire_.speaks ? std::string_view{wire_.speaks->version} : std::string_view{});
    const bool batch = texts.size() > 1;
    bool answer = false;
    for (const auto each : texts) {
        const auto read = known != nullptr && !batch ? *known : read_message(each, limits);
        answer = read && (read->kind == message_kind::result || read->kind == message_kind::failure);
        unnamed_ = is_good() && answer && read->kind == message_kind::failure && !names_request(read->id);
        ours = message_.id != 0 && answer && (unnamed_ || read->answered() == message_.answered_as());
        if (ours) {
            return true;
        }
        if (message_.id == 0 || read) {
            continue;
        }
        for (const auto& whom : addressees_of(each)) {
            const auto id = message_.answered_as();
            if (whom.answer && !whom.other && whom.id.value_or(id) == id) {
                refused = refused_answer(read.error());
                return false;
            }
        }
    }
    return answer && !batch;
}

// A stream may have something after its answer: it is not waited for long, nor does anything wait for it.
void http_post::tell_answer(std::string_view text)
{
    const std::weak_ptr<bool> alive{alive_};
    settled_ = true;
    await(wire_.settings.linger);
    // An error without an id answers the post in which it comes, but nobody else would know that.
    const auto read = unnamed_ ? std::optional{read_message(text)} : std::nullopt;
    if (read && *read) {
        owner_.take(answer_with_id(text, **read, std::to_string(message_.answered_as())));
    } else {
        owner_.take(text);
    }
    if (!alive.expired()) {
        owner_.settled(*this);
    }
}

void http_post::answered_offloaded()
{
    if (!settled_) {
        settled_ = true;
        await(wire_.settings.linger);
        owner_.settled(*this);
    }
}

void http_post::ended(core::result<> how)
{
    if (streams_ || resuming_) {
        return stream_ended(std::move(how));
    }
    if (!how) {
        return fail(how.error());
    }
    judge();
}

void http_post::stream_ended(core::result<> how)
{
    if (settled_ || message_.id == 0) {
        return owner_.over(*this, std::nullopt, std::nullopt);
    }
    const bool refused = !streams_ && how.has_value();
    if (refused) {
        return judge();
    }
    if (events_.last_id().empty() || wire_.modern() || unread_) {
        return fail(
            how ? core::upstream_error(errc::upstream_reset, "the stream ended before the answer") : how.error()
        );
    }
    auto& pause = pause_.emplace(wire_.on.io());
    pause.expires_after(wire_.settings.pause(events_.retry()));
    pause.async_wait([this, alive = std::weak_ptr{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            resume();
        }
    });
}

void http_post::resume()
{
    resuming_ = true;
    streams_ = false;
    body_.clear();
    begin();
}

void http_post::judge()
{
    const bool good = is_good() && !resuming_;
    if (good && json_ && passes_unread(body_)) {
        return pass_unread();
    }
    // A refusal that is so long says nothing that we know.
    const core::result<message> read =
        !good && body_.size() > read_at_once
            ? core::upstream_error(errc::upstream_protocol, "a refusal that is too long to be read")
            : read_message(body_, {.bytes = static_cast<std::size_t>(wire_.settings.server.max_message)});
    const message* const answer = read ? &*read : nullptr;
    if (named_session_ && says_session_lost(status_, answer)) {
        // Some servers answer so to what they do not have: whoever asked knows whether it was so before.
        const bool asks = message_.method.ends_with("/list") || message_.method == "ping";
        const bool doubtful = asks && !message_.of_caller && !resuming_;
        return doubtful ? fail(core::upstream_error(errc::session_not_found, refusal_)) : owner_.forgotten();
    }
    if (good && message_.id == 0) {
        settled_ = true;
        return owner_.over(*this, std::nullopt, std::nullopt);
    }
    // Before the handshake an answer would tell the era, whatever the status: some say nothing about it.
    const bool telling = good ? json_ : wire_.speaks || era_of_http_answer(status_, answer);
    bool ours = false;
    std::optional<core::error> refused;
    if (telling && !resuming_ && answers(body_, ours, refused, &read) && ours) {
        const std::weak_ptr<bool> alive{alive_};
        const auto text = std::move(body_);
        tell_answer(text);
        if (!alive.expired()) {
            owner_.over(*this, std::nullopt, std::nullopt);
        }
        return;
    }
    if (good && refused) {
        return fail(std::move(*refused), era_said_by(answer));
    }
    judge_refusal(answer);
}

void http_post::pass_unread()
{
    const std::weak_ptr<bool> alive{alive_};
    const auto text = std::move(body_);
    owner_.take(text);
    if (!alive.expired()) {
        refuse("what came is no answer to " + message_.method);
    }
}

// A server may come back in the other era behind a connection that goes on.
std::optional<era> http_post::era_said_by(const message* answer) const
{
    const auto first = era_of_http_answer(status_, answer);
    if (first_ || !first || answer == nullptr) {
        return first_ ? first : std::nullopt;
    }
    return other_era(*answer, wire_.modern() ? era::modern : era::legacy);
}

void http_post::judge_refusal(const message* answer)
{
    const bool good = is_good();
    const std::string request = message_.method.empty() ? "an answer" : message_.method;
    auto detail = good ? "what came is no answer to " + request : refusal_;
    // A call that is refused says nothing of other calls, and what the server says of it may be what the caller has said.
    if (!message_.of_caller) {
        const auto quote = good ? std::string{} : refusal_body(status_, body_, wire_.settings);
        detail += quote.empty() && (good || (page_ && !body_.empty())) ? unexpected_body(type_, body_, wire_.settings)
                                                                       : quote;
    }
    const auto refusal = message_.of_caller ? errc::upstream_status : refusal_code(status_);
    const auto code = good ? errc::upstream_protocol : refusal;
    if (answer != nullptr && answer->kind == message_kind::failure && !message_.of_caller &&
        code != errc::session_misconfigured) {
        detail += ": " + answer->failure.text;
    }
    fail(core::upstream_error(code, std::move(detail)), resuming_ ? std::nullopt : era_said_by(answer));
}

void http_post::refuse(std::string why)
{
    fail(core::upstream_error(errc::upstream_protocol, std::move(why)));
}

void http_post::fail(core::error why, std::optional<era> says)
{
    const bool tells = !settled_;
    owner_.over(*this, tells ? std::optional{std::move(why)} : std::nullopt, says);
}

}  // namespace mcp
