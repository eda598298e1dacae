#include "net/server/http2_exchange.hpp"

#include "net/http1/head_writer.hpp"
#include "net/server/http2_connection.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>

namespace net {
namespace {

using core::errc;
using reason = http2::error_code;

constexpr std::string_view continue_head = "HTTP/1.1 100 Continue\r\n";

core::error no_room()
{
    return core::gateway_error(errc::overloaded, "bodies");
}

}  // namespace

http2_exchange::http2_exchange(http2_connection& of, std::int32_t id, http2::received_head head)
    : caller_exchange{of.parts().owner, of.parts().peer, of.parts().sender},
      connection_{of},
      settings_{of.parts().settings},
      id_{id},
      incoming_{loop_.buffers()},
      given_{loop_.buffers()},
      share_{of.bodies()},
      pace_{settings_.body_rate, settings_.body_grace},
      head_bytes_{head.text.size()}
{
    secure_ = of.parts().secure;
    started_ = loop_.now();
    space_ = of.parts().spaces.lend();
    space_->head_text.swap(head.text);
    space_->answer_fields.clear();
    auto parsed =
        space_->parser.read(space_->head_text, head.lines);  // of a refused one, what is left tells how to answer
    if (head.refused != nullptr) {
        refused_ = *head.refused;
    } else if (!parsed) {
        refused_ = std::move(parsed).error();
    }
}

shared_budget* http2_exchange::bodies() const noexcept
{
    return connection_.bodies();
}

const client_certificate* http2_exchange::certificate() const noexcept
{
    return connection_.parts().certificate.get();
}

bool http2_exchange::misdirected() const
{
    auto& wire = connection_.parts().caller.wire();
    return wire.secure() && !is_for_host(wire.tls(), http1::host_of(head().authority));
}

routine<> http2_exchange::serve()
{
    return refused_ ? connection_.parts().handler.refuse(*this, std::move(*refused_)) : handle();
}

routine<> http2_exchange::handle()
{
    auto& handler = connection_.parts().handler;
    std::string fault;
    try {
        co_await handler.handle(*this);
    } catch (const std::exception& bug) {
        fault = bug.what();
    }
    if (!fault.empty()) {
        handler.failed(fault);
        if (!answered_) {
            co_await handler.refuse(*this, core::gateway_error(errc::internal, fault));
        } else {
            cut();
        }
    } else if (!answered_ && !left_) {
        handler.failed("a handler returned without an answer");
        cut();
    }
}

void http2_exchange::end()
{
    auto& session = connection_.session();
    forget_part();
    if (!closed_) {
        if (cut_ || !sent_all_) {
            session.reset(id_, reason::internal_error);
        } else {
            session.detach(id_);
            if (!whole_) {
                connection_.linger(id_);
            }
        }
        closed_ = true;
    }
    give_credit();
    connection_.schedule();
}

void http2_exchange::lose() noexcept
{
    closed_ = true;
    left_ = true;
}

void http2_exchange::abort()
{
    aborted_ = true;
    if (!std::exchange(closed_, true)) {
        connection_.session().reset(id_, reason::internal_error);
        connection_.schedule();
    }
    cut_ = true;
    left_ = true;
    alarm_.start(core::duration{0});  // whatever the exchange waits for, it has to see that its caller is gone
}

void http2_exchange::touch() noexcept
{
    connection_.touch(*this);
}

routine<core::result<std::string_view>> http2_exchange::read_body(std::uint64_t limit)
{
    auto held = co_await hold(std::numeric_limits<std::uint64_t>::max(), limit);
    if (!held) {
        co_return std::move(held).error();
    }
    co_return incoming_.view();
}

core::result<std::string_view> http2_exchange::body_at_hand(std::uint64_t limit)
{
    if (!whole_ || incoming_.size() > limit || !share_.set(incoming_.size())) {
        return core::caller_error(errc::bad_request, "not whole yet, or no room for it");
    }
    give_credit();
    return incoming_.view();
}

routine<core::result<bool>> http2_exchange::hold_body(std::uint64_t enough, std::uint64_t limit)
{
    auto held = co_await hold(enough, limit);
    if (!held) {
        co_return std::move(held).error();
    }
    co_return whole_&& incoming_.size() <= enough;
}

// Until the body is whole or larger than `enough`. Whoever waits for more gives credit for what it holds, of any size: padding and frames
// that do not fit leave a rest of a window, which would never be used.
routine<core::result<>> http2_exchange::hold(std::uint64_t enough, std::uint64_t limit)
{
    const auto& request = head();
    const bool sized = request.body == http1::framing::length;
    if (sized && request.content_length > limit) {
        co_return core::caller_error(errc::body_too_large);
    }
    // Takes what has come, if there is room for it: the caller may send as much again.
    const auto keep = [this, limit]() -> core::result<> {
        if (incoming_.size() > limit) {
            return core::caller_error(errc::body_too_large);
        }
        if (!share_.set(incoming_.size())) {
            return no_room();
        }
        give_credit();
        return {};
    };
    if (whole_) {  // without a wait: the clock may be set for something else
        auto kept = keep();
        co_return kept;
    }
    until_ = alarm_.now() + settings_.body_timeout;
    pace_.begin(body_bytes_);
    alarm_.start_until(until_);
    if (request.expect_continue && body_bytes_ == 0 && !closed_) {
        connection_.session().interim(id_, continue_head);
        connection_.schedule();
    }
    core::result<> done;
    bool enough_held = sized && request.content_length > enough;
    while (done) {
        done = keep();
        enough_held = enough_held || incoming_.size() > enough;
        if (!done || whole_ || enough_held) {
            break;
        }
        done = co_await more();
    }
    alarm_.stop();
    co_return done;
}

// Waits for something of the body, or its end.
routine<core::result<>> http2_exchange::more()
{
    const auto before = body_bytes_;
    while (body_bytes_ == before && !whole_) {
        if (left_ || closed_) {
            co_return core::caller_error(errc::caller_gone, "body");
        }
        if (alarm_.interrupted()) {
            co_return core::gateway_error(errc::draining, "body");
        }
        if (alarm_.expired()) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        const auto now = alarm_.now();
        alarm_.start_until(body_due(until_, now));
        co_await alarm_.wait();
        waited_for_body(now);
    }
    co_return core::result<>{};
}

core::result<request_piece> http2_exchange::take_piece(std::uint64_t limit)
{
    given_.clear();
    given_.swap(incoming_);
    taken_ += given_.size();
    if (taken_ > limit) {
        return core::caller_error(errc::body_too_large);
    }
    give_credit(given_.size());  // the piece before has been used, this one has not
    share_.set(given_.size());
    return request_piece{given_.view(), whole_};
}

void http2_exchange::give_credit(std::size_t but) noexcept
{
    if (uncredited_ > but) {
        connection_.session().consume(id_, uncredited_ - but);
        connection_.schedule();
        uncredited_ = but;
    }
}

void http2_exchange::release_request()
{
    if (whole_) {
        give_credit();
        incoming_.clear();
        given_.clear();
        share_.set(0);
        std::string{}.swap(space_->request_scratch);
        std::string{}.swap(space_->head_text);
        space_->parser.give_up_fields();
    }
}

void http2_exchange::complete_head(std::string& text, answer_length length)
{
    http1::head_writer out{text};
    if (const auto bytes = length.bytes()) {
        out.field("Content-Length", *bytes);
    }
    text += space_->answer_fields;
    out.end();
}

std::optional<core::result<>> http2_exchange::try_send(const answer_part& part)
{
    answered_ = true;
    if (closed_) {
        return sent();
    }
    auto body = part.body;
    out_ = &body;
    trailers_ = part.trailers;
    last_ = part.last;
    auto& session = connection_.session();
    if (part.head.empty()) {
        session.resume(id_);
    } else {
        answer_bytes_ += part.head.size();
        session.answer(id_, part.head, last_ && body.size() == 0 && trailers_.empty());
        if (space_->head_text.empty()) {  // after release_request(): the answer will take its time
            std::string{}.swap(space_->scratch);
        }
    }
    connection_.produce();
    if (!is_sent()) {
        waiting_ = std::make_unique<pieces>(body);
        out_ = waiting_.get();
        return std::nullopt;
    }
    out_ = nullptr;
    return sent();
}

bool http2_exchange::is_sent() const noexcept
{
    return closed_ || (last_ ? sent_all_ : unsent() == 0);
}

core::result<> http2_exchange::sent()
{
    if (aborted_) {
        return core::gateway_error(errc::draining, "write");
    }
    if (closed_ && !sent_all_) {
        cut_ = true;
        return core::caller_error(errc::caller_gone, "write");
    }
    return {};
}

routine<core::result<>> http2_exchange::finish_send()
{
    const auto before = alarm_.due();
    auto taken = answer_bytes_;
    bool stalled = false;
    alarm_.start(patience());
    while (!is_sent() && !stalled) {
        co_await alarm_.wait();
        if (alarm_.expired() && !is_sent()) {
            stalled = std::exchange(taken, answer_bytes_) == answer_bytes_;
            alarm_.start(patience());
        }
    }
    alarm_.start_until(before);
    forget_part();
    if (stalled) {
        connection_.session().reset(id_, reason::cancel);
        connection_.schedule();
        lose();
        cut_ = true;
        co_return core::caller_error(errc::caller_gone, "takes nothing");
    }
    co_return sent();
}

core::duration http2_exchange::patience() const noexcept
{
    return hurried_ ? std::min(settings_.write_timeout, last_write_grace) : settings_.write_timeout;
}

void http2_exchange::hurry()
{
    hurried_ = true;
    if (answered_ && !is_sent()) {
        alarm_.start(patience());
    }
}

void http2_exchange::ping()
{
    connection_.session().ping();
    connection_.schedule();
}

// Bytes that the budget has no room for are kept, a window of them at most; hold() refuses the body.
void http2_exchange::on_body(std::string_view piece)
{
    incoming_.add(piece);
    body_bytes_ += piece.size();
    uncredited_ += piece.size();
    share_.set(incoming_.size() + given_.size());
    touch();
}

void http2_exchange::on_end()
{
    whole_ = true;
    touch();
}

void http2_exchange::on_closed(reason code, http2::by whom)
{
    closed_ = true;
    left_ = left_ || code != reason::no_error || whom == http2::by::peer;
    touch();
}

http2::outgoing http2_exchange::next() noexcept
{
    return {unsent(), last_, last_ ? trailers_ : std::string_view{}};
}

void http2_exchange::take(std::size_t size, std::string& out)
{
    answer_bytes_ += size;
    auto left = size;
    for (const auto& each : *out_) {
        const auto part = std::min(left, each.size());
        out.append(static_cast<const char*>(each.data()), part);
        left -= part;
    }
    out_->consume(size);
    touch();
}

void http2_exchange::on_sent_all()
{
    sent_all_ = true;
    touch();
}

}  // namespace net
