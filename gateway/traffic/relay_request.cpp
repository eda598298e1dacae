// The half of the relay that goes to the agent: a connection, the request, and whether it may be sent again.
#include "gateway/traffic/relay.hpp"

#include <chrono>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::framing;

}  // namespace

// Connects, sends and reads the answer's head; once more if the connection was a used one and the call did not arrive.
net::routine<core::result<>> relay::exchange_head()
{
    bool fresh = false;
    for (;;) {
        core::result<> done;
        if (fresh || !take_connection()) {
            done = co_await make_connection();
            if (!done) {
                co_return done;
            }
        }
        if (!begin_request()) {
            done = co_await finish_request();
        }
        if (done) {
            done = co_await read_head();
        }
        if (done) {
            co_return done;
        }
        const bool nothing_came = lease_->side().received().empty();
        const bool again = done.error().code == errc::upstream_reset && lease_->reused() && nothing_came &&
                           !call_.passed && (call_.repeatable || lease_->ended_before(sent_before_));
        if (!again || fresh) {
            co_return done;
        }
        finish_connection(false);
        fresh = true;
    }
}

// An idle connection to this agent, if there is one.
bool relay::take_connection()
{
    lease_ = pool_.take_idle(*call_.agent->upstream);
    if (!lease_) {
        return false;
    }
    lease_->set_listener(&caller_.clock().wake());
    outcome_.reused = true;
    return true;
}

net::routine<core::result<>> relay::make_connection()
{
    outcome_.reused = false;
    lease_ = pool_.make(call_.agent->upstream);
    const auto until = caller_.owner().now() + settings_.connect;
    lease_->connect(caller_.clock().wake());
    while (lease_->connecting()) {
        const auto how = co_await wait(until);
        if (how != woken::by_event) {
            co_return interrupted(how, "connect");
        }
    }
    if (const auto& failed = lease_->failure()) {
        co_return *failed;
    }
    co_return core::result<>{};
}

// False: not all of it has gone out, or more is to come: finish_request().
bool relay::begin_request()
{
    auto& text = caller_.request_scratch();
    text.clear();
    const auto& head = caller_.head();
    const forwarding_hop hop{caller_.peer(), head.authority, caller_.secure() ? "https" : "http", call_.from_proxy};
    const auto care = call_.card ? body_care::edited : body_care::passes;
    if (call_.passed || head.body == framing::none) {
        write_request_fields(text, head, {head.body, head.content_length, care}, hop);
    } else {
        write_request_fields(text, head, {framing::length, call_.body.size(), care}, hop);
    }
    auto& side = lease_->side();
    sent_before_ = side.bytes_out();
    request_done_ = false;
    interim_ = 0;
    answer_begun_ = false;
    net::pieces request;
    request.add(call_.head);
    request.add(text);
    request.add(call_.body);
    side.write(request);
    side.arm();
    request_done_ = !side.writing() && !side.write_error() && !call_.passed;
    return request_done_;
}

net::routine<core::result<>> relay::finish_request()
{
    auto& side = lease_->side();
    const auto until = caller_.owner().now() + call_.agent->head_timeout;
    // An answer that comes before the whole request was sent is an answer (RFC 9112 section 9.5).
    while (side.writing()) {
        auto begun = answer_begun();
        if (!begun) {
            co_return std::move(begun).error();
        }
        if (*begun) {
            co_return core::result<>{};
        }
        side.arm();
        const auto how = co_await wait(until);
        if (how != woken::by_event) {
            co_return interrupted(how, "send");
        }
    }
    if (call_.passed) {
        co_return co_await pass_request_body();
    }
    request_done_ = !side.write_error();
    co_return core::result<>{};
}

net::routine<core::result<>> relay::pass_request_body()
{
    auto& side = lease_->side();
    const bool chunked = caller_.head().body == framing::chunked;
    while (!side.ended()) {
        auto begun = answer_begun();
        if (!begun) {
            co_return std::move(begun).error();
        }
        if (*begun) {
            co_return core::result<>{};
        }
        side.arm();
        auto piece = caller_.take_piece(settings_.stream_body);
        if (!piece) {
            co_return std::move(piece).error();
        }
        const bool starved = piece->data.empty() && !piece->last;
        if (!starved) {
            auto written = co_await write_piece(*piece, chunked);
            if (!written) {
                co_return std::move(written).error();
            }
            if (!*written) {
                co_return core::result<>{};
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
        const auto how = co_await wait(caller_.body_due(now + settings_.body, now));
        caller_.waited_for_body(now);
        if (how == woken::late) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        if (how != woken::by_event) {
            co_return interrupted(how, "body");
        }
    }
    co_return core::result<>{};
}

// False: the agent has answered or left meanwhile, which read_head() looks at.
net::routine<core::result<bool>> relay::write_piece(net::server_connection::request_piece piece, bool chunked)
{
    auto& side = lease_->side();
    net::pieces out;
    if (chunked && !piece.data.empty()) {
        request_chunk_ = net::http1::chunk_header{piece.data.size()};
        out.add(request_chunk_.text());
        out.add(piece.data);
        out.add(net::http1::chunk_end);
    } else {
        out.add(piece.data);
    }
    if (chunked && piece.last) {
        out.add(net::http1::last_chunk);
    }
    side.write(out);
    const auto until = caller_.owner().now() + call_.agent->head_timeout;
    while (side.writing()) {
        auto begun = answer_begun();
        if (!begun) {
            co_return std::move(begun).error();
        }
        if (*begun) {
            co_return false;
        }
        side.arm();
        const auto how = co_await wait(until);
        if (how != woken::by_event) {
            co_return interrupted(how, "send");
        }
    }
    co_return !side.write_error();
}

}  // namespace gateway::traffic
