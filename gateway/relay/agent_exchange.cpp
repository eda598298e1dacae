#include "gateway/relay/agent_exchange.hpp"

#include "core/ascii.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/relay/early_events.hpp"
#include "gateway/relay/forwarding.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace gateway::relay {
namespace {

using core::errc;
using net::http1::framing;

// The head with the cookies of the session in the agent's own Cookie field, if it has one: a request has one (RFC 6265 section 5.4).
void add_head(net::pieces& request, const relay_call& call)
{
    constexpr std::string_view name = "\r\nCookie: ";
    if (call.request.cookies.empty()) {
        return request.add(call.request.head);
    }
    const auto own = core::find_ignoring_case(call.request.head, name);
    const auto end =
        own == call.request.head.npos ? call.request.head.size() : call.request.head.find("\r\n", own + name.size());
    request.add(call.request.head.substr(0, end));
    request.add(own == call.request.head.npos ? name.substr(2) : std::string_view{"; "});
    request.add(call.request.cookies);
    request.add(own == call.request.head.npos ? std::string_view{"\r\n"} : call.request.head.substr(end));
}

}  // namespace

agent_exchange::agent_exchange(
    net::caller_exchange& caller,
    net::upstream_pool& pool,
    exchange_wait& wait,
    const relay_settings& settings,
    relay_call& call
)
    : caller_{caller},
      pool_{pool},
      wait_{wait},
      settings_{settings},
      call_{call},
      attempts_{settings.control, call},
      span_{call.caller.trace},
      due_{call.times.longest > core::duration{} ? caller.owner().now() + call.times.longest : core::steady_time::max()}
{
}

agent_exchange::~agent_exchange()
{
    discard();
}

// The breaker hears of it before the caller does, whose next call it may be for. One routine for all attempts: a call that waits for
// its agent keeps no frame more than it needs.
net::routine<core::result<>> agent_exchange::begin()
{
    attempts_.begin(caller_.owner().now());
    core::result<> done = core::gateway_error(errc::circuit_open);
    bool fresh = false;    // an idle connection may have ended too
    bool resends = false;  // the same attempt, on another connection or stream
    bool resent = false;
    while (resends || attempts_.admit(caller_.owner().now())) {
        if (caller_.interrupted()) {
            done = interrupted(woken::ended, "connect");
            break;
        }
        first_byte_.reset();
        connected_ = false;
        span_.begin(*call_.agent->upstream, net::http1::name(call_.request.verb), caller_.owner().now());
        done = core::result<>{};
        if (fresh || !take_connection()) {
            done = co_await make_connection();
        }
        if (done) {
            connected_ = true;
            if (!begin_request()) {
                done = co_await finish_request();
            }
        }
        if (done) {
            done = co_await read_head();
        }
        resends = !done && !resent && never_arrived(done.error());
        if (resends) {
            resent = true;
            span_.note(done, 0, caller_.owner().now());
            close();
            attempts_.sent_again();
            fresh = true;
            continue;
        }
        if (!goes_on_after(done)) {
            break;
        }
        fresh = connected_;
    }
    co_return done;
}

// The agent has not taken the call: a used connection had ended before, or a stream was refused.
bool agent_exchange::never_arrived(const core::error& why) const
{
    return connected_ && why.code == errc::upstream_reset && !took_piece_ && lease_->unprocessed();
}

unsigned agent_exchange::counted_status() const
{
    const auto* const code =
        call_.traits.messages ? net::http1::find(head().fields, std::string_view{"grpc-status"}) : nullptr;
    if (code == nullptr) {
        return head().status;
    }
    return *code == "14" ? 503 : *code == "16" ? 401 : head().status;
}

// The time that the agent is told.
core::duration agent_exchange::time_left() const
{
    const auto now = caller_.owner().now();
    if (call_.times.asked == core::duration{}) {
        return call_deadline::left(head_due(), now);
    }
    const auto whole = caller_.started() + call_.times.asked;
    return call_deadline::left(call_.traits.streaming ? whole : std::min<core::steady_time>(whole, head_due()), now);
}

// Whether there is another attempt, now that this one is over.
bool agent_exchange::goes_on_after(const core::result<>& done)
{
    auto how = done ? model::end_of_answer(counted_status()) : model::end_of_failure(done.error().code, connected_);
    const auto now = caller_.owner().now();
    if (!done && call_.deadline.asked_and_over(now)) {
        how = balancing::call_end::unknown;  // the agent had less than its time
    }
    attempts_.end(how, now);
    span_.note(done, done ? head().status : 0, now);
    if (done) {
        return false;
    }
    const bool answer_began = connected_ && side().answering();
    discard();
    return !call_.deadline.over(now) && attempts_.again({done.error().code, connected_, answer_began}, now);
}

// An idle connection to this agent, if there is one.
bool agent_exchange::take_connection()
{
    lease_ = pool_.take_idle(*call_.agent->upstream);
    if (!lease_) {
        return false;
    }
    lease_->set_listener(&caller_.clock().wake());
    set_view();
    return true;
}

void agent_exchange::set_view()
{
    if (call_.hooks.codec) {
        view_ = call_.hooks.codec->view(*lease_);
        view_->set_listener(&caller_.clock().wake());
    }
}

net::routine<core::result<>> agent_exchange::make_connection()
{
    lease_ = pool_.make(call_.agent->upstream, call_.caller.hash());
    set_view();
    const auto until = std::min(caller_.owner().now() + settings_.timeouts.connect, call_.deadline.due);
    lease_->connect(caller_.clock().wake());
    while (lease_->connecting()) {
        const auto how = co_await wait_.until(until);
        if (how == woken::late && lease_->failure() && !call_.deadline.over(caller_.owner().now())) {
            break;
        }
        if (how != woken::by_event) {
            co_return call_.deadline.interrupted(how, "connect", caller_.owner().now());
        }
    }
    if (const auto& failed = lease_->failure()) {
        co_return *failed;
    }
    co_return core::result<>{};
}

// False: not all of it has gone out, or more is to come: finish_request().
bool agent_exchange::begin_request()
{
    auto& text = caller_.request_scratch();
    text = call_.request.extensions.value_or("");
    const auto& head = caller_.head();
    const forwarding_hop hop{
        caller_.peer(),
        head.authority,
        caller_.secure() ? "https" : "http",
        call_.caller.from_proxy,
        call_.caller.credentials,
        call_.agent.get(),
        call_.request.extensions.has_value(),
        call_.request.says_version,
        call_.request.says_session,
        call_.traits.by_grpc,
        call_.traits.messages,
        call_.times.asked > core::duration{},
        span_.told(),
        settings_.deadlines,
        time_left(),
        caller_.major_version() == 2
    };
    const auto care =
        !call_.hooks.edits.empty() || call_.hooks.tasks.must_read() ? body_care::edited : body_care::passes;
    outgoing_body sent{framing::length, call_.request.body.size(), care};
    if (call_.request.translated) {
        sent.how = call_.request.verb == net::http1::method::post ? framing::length : framing::none;
        sent.answer = body_care::translated;
    } else if (call_.request.passed || head.body == framing::none) {
        sent = {head.body, head.content_length, care};
    }
    if (call_.traits.by_grpc) {
        sent.how = framing::none;  // messages say their lengths themselves
    }
    sent.json = call_.request.json && !call_.traits.by_grpc;
    if (call_.traits.forwarded) {
        write_forwarded_fields(text, head, sent, hop);
    } else {
        write_request_fields(text, head, sent, hop);
    }
    net::agent_request request{
        .body = call_.request.body,
        .last = !call_.request.passed,
        .chunked = sent.how == framing::chunked
    };
    add_head(request.head, call_);
    request.head.add(call_.request.lines);
    request.head.add(call_.request.inside);
    request.head.add(text);
    side().send(request);
    request_done_ = !side().sending() && !side().send_error() && !call_.request.passed;
    return request_done_;
}

net::routine<core::result<>> agent_exchange::finish_request()
{
    if (side().sending()) {
        auto written = co_await finish_write();
        if (!written) {
            co_return written;
        }
    }
    if (!first_byte_ && call_.request.passed) {
        co_return co_await pass_request_body();
    }
    request_done_ = !first_byte_ && !side().send_error();
    co_return core::result<>{};
}

net::routine<core::result<>> agent_exchange::pass_request_body()
{
    while (!side().ended()) {
        auto parsed = parse_head();
        if (!parsed || first_byte_) {
            co_return parsed;
        }
        side().arm();
        auto piece = take_piece();
        if (!piece) {
            co_return std::move(piece).error();
        }
        if (!piece->data.empty() || piece->last) {
            side().send_body(piece->data, piece->last);
            if (side().sending()) {
                auto written = co_await finish_write();
                if (!written) {
                    co_return written;
                }
            }
            if (first_byte_ || side().send_error()) {
                co_return core::result<>{};  // read_head() looks at it
            }
            if (piece->last) {
                request_done_ = true;
                co_return core::result<>{};
            }
            continue;
        }
        if (caller_.caller_left()) {
            co_return core::caller_error(errc::caller_gone, "body");
        }
        const auto now = caller_.owner().now();
        const auto next = call_.traits.both_ways ? now + settings_.timeouts.upstream_idle
                                                 : caller_.body_due(now + settings_.timeouts.body, now);
        const auto due = std::min<core::steady_time>(next, call_.deadline.due);
        const auto how = co_await wait_.until(due);
        caller_.waited_for_body(now);
        if (how == woken::late && due != call_.deadline.due) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        if (how != woken::by_event) {
            co_return call_.deadline.interrupted(how, "body", caller_.owner().now());
        }
    }
    co_return core::result<>{};
}

core::result<net::request_piece> agent_exchange::take_piece()
{
    // A stream of messages has no limit of its own: each message has.
    const bool messages = call_.traits.messages;
    auto piece =
        caller_.take_piece(messages ? std::numeric_limits<std::uint64_t>::max() : settings_.limits.stream_body);
    if (piece && call_.hooks.look_at_body) {
        if (auto good = call_.hooks.look_at_body(piece->data, piece->last); !good) {
            return std::move(good).error();
        }
    }
    took_piece_ = took_piece_ || !piece || !piece->data.empty() || piece->last;
    return piece;
}

core::result<> agent_exchange::pass_more()
{
    while (call_.traits.messages && call_.request.passed && !request_done_ && !side().sending() && !side().send_error()
    ) {
        const auto piece = take_piece();
        if (!piece) {
            return piece.error();
        }
        if (piece->data.empty() && !piece->last) {
            break;
        }
        side().send_body(piece->data, piece->last);
        request_done_ = piece->last;
    }
    return {};
}

// Waits until what was written is out, or failed, or the answer has begun: an answer that comes before the whole request
// was sent is an answer (RFC 9112 section 9.5).
net::routine<core::result<>> agent_exchange::finish_write()
{
    const auto until = std::min(caller_.owner().now() + head_time(call_), call_.deadline.due);
    while (side().sending()) {
        auto parsed = parse_head();
        if (!parsed || first_byte_) {
            co_return parsed;
        }
        side().arm();
        const auto how = co_await wait_.until(until);
        if (how != woken::by_event) {
            co_return call_.deadline.interrupted(how, "send", caller_.owner().now());
        }
    }
    co_return core::result<>{};
}

// Looks for the head of the final answer in what was received: first_byte_ says whether it is there.
core::result<> agent_exchange::parse_head()
{
    if (first_byte_) {
        return {};
    }
    auto here = side().read_head(call_.request.verb);
    if (!here) {
        return std::move(here).error();
    }
    if (*here) {
        first_byte_ = caller_.owner().now();
    }
    return {};
}

core::steady_time agent_exchange::head_due() const noexcept
{
    return std::min({caller_.owner().now() + head_time(call_), due_, call_.deadline.due});
}

net::routine<core::result<>> agent_exchange::await_event(core::steady_time until)
{
    const auto silent_until = this->silent_until();
    const auto how = co_await wait_.until(std::min(until, silent_until));
    if (how == woken::by_event) {
        co_return core::result<>{};
    }
    co_return co_await after_wait(how, silent_until < until);
}

core::steady_time agent_exchange::silent_until() const
{
    return early_ != nullptr ? early_->due() : core::steady_time::max();
}

// Handles a wait for the agent that no event has ended. `in_silence`: it was to last until the silence is broken.
net::routine<core::result<>> agent_exchange::after_wait(woken how, bool in_silence)
{
    if (how == woken::late && in_silence) {
        co_return co_await early_->break_silence();
    }
    co_return call_.deadline.interrupted(how, "answer", caller_.owner().now());
}

net::routine<core::result<>> agent_exchange::read_head()
{
    const auto until = head_due();
    for (;;) {
        auto parsed = parse_head();
        if (!parsed || first_byte_) {
            co_return parsed;
        }
        if (side().ended()) {
            co_return core::upstream_error(errc::upstream_reset, side().end_reason().message());
        }
        side().arm();
        const auto silent_until = this->silent_until();
        const auto how = co_await wait_.until(std::min(until, silent_until));
        if (how != woken::by_event) {
            auto waited = co_await after_wait(how, silent_until < until);
            if (!waited) {
                co_return waited;
            }
        }
    }
}

void agent_exchange::give_back(bool whole)
{
    span_.end(caller_.owner().now());
    if (whole && request_done_ && side().reusable()) {
        view_.reset();
        pool_.give_back(std::move(lease_));
        attempts_.landed();
    } else {
        discard();
    }
}

void agent_exchange::discard()
{
    attempts_.landed();
    close();
}

void agent_exchange::close()
{
    span_.end(caller_.owner().now());
    view_.reset();
    if (lease_) {
        pool_.discard(std::move(lease_));
    }
}

}  // namespace gateway::relay
