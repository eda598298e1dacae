#include "gateway/traffic/relay.hpp"

#include "net/http1/head_writer.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::field_name;
using net::http1::framing;

constexpr int most_interim_answers = 8;

// A caller that closes its sending half may still read the answer (RFC 9112 section 9.6), or it may have left; nothing
// tells the two apart. It gets this long for an answer that is about to come, and for each further piece of it.
constexpr core::duration half_close_grace{250};

model::stream_end how_ended(const core::error& why) noexcept
{
    if (why.from == core::side::caller) {
        return model::stream_end::caller;
    }
    if (why.code == errc::draining) {
        return model::stream_end::drain;
    }
    return why.code == errc::upstream_timeout ? model::stream_end::idle : model::stream_end::upstream;
}

}  // namespace

relay::relay(net::server_connection& caller, net::upstream_pool& pool, relay_settings settings, relay_call call)
    : caller_{caller},
      pool_{pool},
      settings_{settings},
      call_{std::move(call)}
{
}

relay::~relay()
{
    if (lease_) {
        pool_.discard(std::move(lease_));
    }
    if (announced_) {
        settings_.observer->stream_ended();
    }
}

net::routine<relay_outcome> relay::run()
{
    auto done = co_await exchange_head();
    if (done && call_.card) {
        done = co_await edit_answer();
    } else if (done) {
        done = co_await pass_answer();
    }
    if (!done) {
        finish_connection(false);
        if (end_stream_) {
            done = interrupted(woken::ended, "body");
        }
        if (outcome_.stream) {
            outcome_.stream = how_ended(done.error());
        }
        outcome_.failure = std::move(done).error();
    }
    caller_.clock().stop();
    co_return std::move(outcome_);
}

// Whether the head of the final answer has come; interim ones (RFC 9110 section 15.2) are skipped.
core::result<bool> relay::answer_begun()
{
    auto& side = lease_->side();
    auto& parser = lease_->parser();
    while (!answer_begun_ && !side.received().empty()) {
        auto parsed = parser.parse(side.received(), call_.verb);
        if (!parsed) {
            return std::move(parsed).error();
        }
        if (*parsed == 0) {
            if (side.full()) {
                side.grow();
            }
            return false;
        }
        if (parser.head().status >= 200) {
            outcome_.first_byte = caller_.owner().now();
            head_length_ = *parsed;
            answer_begun_ = true;
        } else if (++interim_ > most_interim_answers) {
            return core::upstream_error(errc::upstream_protocol, "too many interim answers");
        } else {
            side.consume(*parsed);
            parser.reset();
        }
    }
    return answer_begun_;
}

net::routine<core::result<>> relay::read_head()
{
    auto& side = lease_->side();
    const auto until = caller_.owner().now() + call_.agent->head_timeout;
    for (;;) {
        auto begun = answer_begun();
        if (!begun) {
            co_return std::move(begun).error();
        }
        if (*begun) {
            co_return core::result<>{};
        }
        if (side.ended()) {
            co_return upstream_ended();
        }
        side.arm();
        const auto how = co_await wait(until);
        if (how != woken::by_event) {
            co_return interrupted(how, "answer");
        }
    }
}

net::routine<core::result<>> relay::pass_answer()
{
    auto& side = lease_->side();
    const auto& head = lease_->parser().head();
    const bool reads = call_.verb == net::http1::method::get || call_.verb == net::http1::method::head;
    if (head.status >= 300 && head.status < 400 && !(head.status == 304 && reads)) {
        // Its Location would lead the caller past the gateway, and nothing of A2A needs it.
        co_return core::upstream_error(errc::upstream_status, "status " + std::to_string(head.status));
    }
    outcome_.status = head.status;
    remaining_ = head.content_length;
    body_done_ = head.body == framing::none || (head.body == framing::length && remaining_ == 0);
    rechunk_ = !body_done_ && head.body != framing::length && caller_.head().minor_version == 1;
    if (!body_done_ && head.body != framing::length && !rechunk_) {
        caller_.end_body_with_connection();  // HTTP/1.0
    }
    if (!expect_events()) {
        co_return core::gateway_error(errc::overloaded, "streams");
    }
    write_answer_head();
    const bool keep = head.keep_alive;
    const bool large = head.body == framing::length && remaining_ > net::small_block;
    side.consume(head_length_);
    if (large) {
        side.reserve(net::large_block);
    }
    if (outcome_.stream && request_done_) {
        caller_.release_request();
    }
    net::pieces first;
    first.add(caller_.scratch());
    auto done = co_await pass_body(first);
    if (done) {
        finish_connection(keep && request_done_ && !side.writing());
    }
    co_return done;
}

void relay::write_answer_head()
{
    const auto& head = lease_->parser().head();
    auto& text = caller_.scratch();
    write_answer_fields(text, head);
    net::http1::head_writer out{text};
    if (net::http1::find(head.fields, field_name::date) == nullptr) {
        out.field("Date", caller_.owner().http_date());
    }
    if (rechunk_) {
        out.field("Transfer-Encoding", "chunked");
    } else if (head.body == framing::length || (head.body == framing::none && head.status != 204 &&
                                                head.status != 304 && call_.verb != net::http1::method::head)) {
        out.field("Content-Length", head.content_length);
    }
    if (caller_.closing()) {
        out.field("Connection", "close");
    }
    out.end();
}

// Adds what can be passed on now; gives how much of `received` that used up.
core::result<std::size_t> relay::take_pieces(net::pieces& out, std::string_view received)
{
    if (lease_->parser().head().body == framing::length) {
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(received.size(), remaining_));
        if (!add_data(out, chunk_headers_[0], received.substr(0, taken))) {
            return core::upstream_error(errc::event_too_large);
        }
        remaining_ -= taken;
        body_done_ = remaining_ == 0;
        return taken;
    }
    const bool chunked = lease_->parser().head().body == framing::chunked;
    std::size_t used = 0;
    std::size_t spans = 0;
    while (used < received.size() && spans < chunk_headers_.size() && !body_done_) {
        auto data = received.substr(used);
        if (chunked) {
            auto step = decoder_.decode(data);
            if (!step) {
                return core::upstream_error(errc::upstream_protocol, "chunk: " + step.error().detail);
            }
            used += step->consumed;
            data = step->data;
            body_done_ = step->finished;
        } else {
            used += data.size();
        }
        if (!data.empty()) {
            if (!add_data(out, chunk_headers_[spans], data)) {
                return core::upstream_error(errc::event_too_large);
            }
            ++spans;
        }
    }
    if (body_done_ && rechunk_) {
        out.add(net::http1::last_chunk);
    }
    return used;
}

// Adds what has come of the body since, and its end. An error: nothing more of it can be passed on but what was added.
core::result<std::size_t> relay::take_body(net::pieces& out)
{
    auto& side = lease_->side();
    if (body_done_) {
        return std::size_t{0};
    }
    if (!side.received().empty()) {
        return take_pieces(out, side.received());
    }
    if (side.ended()) {
        if (lease_->parser().head().body != framing::until_close || side.read_error() != boost::asio::error::eof) {
            return upstream_ended();
        }
        body_done_ = true;
        if (rechunk_) {
            out.add(net::http1::last_chunk);
        }
    }
    return std::size_t{0};
}

net::routine<core::result<>> relay::pass_body(net::pieces out)
{
    auto& side = lease_->side();
    auto silent_until = caller_.owner().now() + settings_.upstream_idle;
    for (;;) {
        if (end_stream_ && !outcome_.answered) {
            co_return interrupted(woken::ended, "body");
        }
        const auto head_size = out.size();
        auto used = take_body(out);
        if (!used && !outcome_.answered && (!outcome_.stream || out.size() == head_size)) {
            co_return std::move(used).error();  // the caller can still be told
        }
        if (out.size() > 0) {
            outcome_.answered = true;
            auto sent = caller_.try_send(out);
            if (!sent) {
                sent = co_await caller_.finish_send();
            }
            if (!*sent) {
                co_return std::move(*sent);
            }
            out = {};
            caller_left_at_.reset();
            if (events_) {
                events_->wrote(caller_.owner().now());
            }
        }
        if (!used) {
            co_return std::move(used).error();
        }
        side.consume(*used);
        if (body_done_) {
            co_return core::result<>{};
        }
        if (end_stream_) {
            co_return interrupted(woken::ended, "body");
        }
        if (side.received().empty() && !side.ended()) {
            if (*used > 0) {
                silent_until = caller_.owner().now() + settings_.upstream_idle;
            }
            const auto comment_due = events_ ? events_->comment_due() : net::never;
            side.arm();
            const auto how = co_await wait(std::min(silent_until, comment_due));
            if (how == woken::late && comment_due < silent_until) {
                add_comment(out);
            } else if (how != woken::by_event) {
                co_return interrupted(how, "body");
            }
        }
    }
}

// Waits for one event of this exchange, whatever it is: the caller of this looks at what has changed.
net::routine<relay::woken> relay::wait(core::steady_time until)
{
    if (end_stream_) {
        co_return woken::ended;
    }
    if (caller_.aborted()) {
        co_return woken::ended;
    }
    caller_.watch_caller();
    auto wake_at = until;
    if (caller_.caller_left()) {
        const auto now = caller_.owner().now();
        if (!caller_left_at_) {
            caller_left_at_ = now;
        }
        if (call_.streaming || outcome_.stream || caller_.was_reset() || now >= *caller_left_at_ + half_close_grace) {
            co_return woken::caller_gone;
        }
        wake_at = std::min(until, *caller_left_at_ + half_close_grace);
    }
    caller_.clock().start_until(wake_at);
    co_await caller_.clock().wait();
    if (end_stream_ || caller_.aborted()) {
        co_return woken::ended;
    }
    if (caller_.clock().expired() && wake_at == until) {
        co_return woken::late;
    }
    co_return woken::by_event;
}

core::error relay::interrupted(woken how, std::string_view where) const
{
    switch (how) {
        case woken::late:
            return core::upstream_error(errc::upstream_timeout, std::string(where));
        case woken::ended:
            return core::gateway_error(errc::draining, std::string(where));
        case woken::caller_gone:
        case woken::by_event:
            break;
    }
    return core::caller_error(errc::caller_gone, std::string(where));
}

core::error relay::upstream_ended() const
{
    return core::upstream_error(errc::upstream_reset, lease_->side().read_error().message());
}

void relay::finish_connection(bool clean)
{
    if (!lease_) {
        return;
    }
    if (clean) {
        pool_.give_back(std::move(lease_));
    } else {
        pool_.discard(std::move(lease_));
    }
}

void relay::end_stream()
{
    end_stream_ = true;
    caller_.hurry();
    caller_.clock().wake().set();
}

}  // namespace gateway::traffic
