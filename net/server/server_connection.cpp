#include "net/server/server_connection.hpp"

#include "net/http1/chunked.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

namespace net {
namespace {

using core::errc;

// After drain(): for the request of a caller who has just connected, and for one that is on its way over a kept connection.
constexpr core::duration first_request_grace{1000};
constexpr core::duration kept_grace{50};

constexpr core::duration last_write_grace{1000};

}  // namespace

void alarm::start(core::duration from_now)
{
    start_until(loop_.now() + from_now);
}

void alarm::start_until(core::steady_time when) noexcept
{
    expired_ = false;
    owner_.set_due(when);
}

void alarm::stop() noexcept
{
    expired_ = false;
    owner_.set_due(never);
}

void alarm::expire()
{
    expired_ = true;
    signal_.set();
}

server_connection::server_connection(
    loop& owner,
    accepted_socket from,
    http_handler& handler,
    const server_settings& settings,
    exchange_spaces& spaces
)
    : loop_{owner},
      handler_{handler},
      settings_{settings},
      caller_{owner, std::move(from.socket)},
      alarm_{*this, owner},
      spaces_{spaces},
      peer_{from.peer.address().to_string()},
      body_share_{settings.bodies}
{
    caller_.set_listener(&alarm_.wake());
    loop_.timers().add(*this);
    if (from.tls != nullptr && !caller_.closed() && caller_.start_tls(*from.tls, tls_role::server, nullptr)) {
        caller_.close(/*hard=*/true);
    }
}

routine<> server_connection::run()
{
    bool again = true;
    if (caller_.wire().secure()) {
        again = co_await shake_hands();
    }
    while (again) {
        begin_wait();
        while (waits_idle()) {  // here, so that an idle connection has no other frame
            caller_.arm();
            co_await alarm_.wait();
        }
        again = co_await serve_one();
    }
    phase_ = phase::closing;
    if (cut_ && (unframed_ || caller_.write_error())) {
        caller_.close(/*hard=*/true);
    } else if (!caller_.closed()) {
        co_await linger();
    }
    alarm_.stop();
}

routine<bool> server_connection::shake_hands()
{
    alarm_.start(settings_.handshake_timeout);
    while (caller_.opening() && !caller_.closed() && !alarm_.expired()) {
        co_await alarm_.wait();
    }
    const bool late = alarm_.expired();
    alarm_.stop();
    if (!caller_.opening() && !caller_.ended() && !caller_.closed()) {
        const bool resumed = ::SSL_session_reused(&caller_.wire().tls()) == 1;
        handler_.on_handshake(resumed ? handshake::resumed : handshake::complete, peer_, {});
        co_return true;
    }
    if (!draining_) {
        handler_.on_handshake(handshake::failed, peer_, late ? "took too long" : caller_.read_error().message());
    }
    caller_.close();
    co_return false;
}

// One request; false when the connection is over.
routine<bool> server_connection::serve_one()
{
    auto got = co_await read_head();
    if (!got) {
        if (got.error().code == errc::caller_gone) {
            co_return false;
        }
        close_ = true;
        phase_ = phase::exchange;
        bytes_out_before_ = caller_.bytes_out();
        co_await handler_.refuse(*this, std::move(got).error());
        co_return false;
    }
    phase_ = phase::exchange;
    ++served_;
    bytes_out_before_ = caller_.bytes_out();
    body_read_ =
        head().body == http1::framing::none || (head().body == http1::framing::length && head().content_length == 0);
    alarm_.stop();
    co_await guarded_handle();
    if (cut_ || close_ || caller_.closed() || caller_.write_error() || closing()) {
        co_return false;
    }
    finish_request();
    co_return true;
}

routine<> server_connection::guarded_handle()
{
    std::string fault;
    try {
        co_await handler_.handle(*this);
    } catch (const std::exception& bug) {
        fault = bug.what();
    }
    if (!fault.empty()) {
        handler_.failed(fault);
        close_ = true;
        if (answered_) {
            cut_ = true;
        } else {
            co_await handler_.refuse(*this, core::gateway_error(errc::internal, fault));
        }
    } else if (!answered_ && !caller_left()) {
        handler_.failed("a handler returned without an answer");
        cut_ = true;
    }
}

void server_connection::begin_wait()
{
    answered_ = false;
    body_read_ = false;
    released_ = 0;
    started_ = loop_.now();
    begun_at_ = caller_.bytes_in() - caller_.received().size();
    phase_ = caller_.received().empty() ? phase::idle : phase::head;
    if (phase_ == phase::idle) {
        space_.reset();
    }
    // A connection's first request has the header timeout from the start, later ones may keep it idle for longer.
    const bool first = caller_.bytes_out() == 0;
    const auto wait = phase_ == phase::head || first ? settings_.header_timeout : settings_.idle_timeout;
    alarm_.start(draining_ ? std::min(wait, first_request_grace) : wait);
}

bool server_connection::waits_idle() const noexcept
{
    return caller_.received().empty() && !caller_left() && !alarm_.expired();
}

// After begin_wait().
routine<core::result<>> server_connection::read_head()
{
    if (space_ == nullptr) {
        space_ = spaces_.lend();
    }
    auto& parser = space_->parser;
    parser.reset();
    space_->decoder = http1::chunked_decoder{};
    for (;;) {
        if (!caller_.received().empty()) {
            if (phase_ == phase::idle) {
                phase_ = phase::head;
                started_ = loop_.now();
                alarm_.start(settings_.header_timeout);
            }
            auto parsed = parser.parse(caller_.received());
            if (!parsed) {
                co_return std::move(parsed).error();
            }
            if (*parsed > 0) {
                head_length_ = *parsed;
                request_length_ = head_length_;
                coded_at_ = head_length_;
                held_ = 0;
                body_taken_ = 0;
                co_return core::result<>{};
            }
            if (caller_.full()) {
                caller_.grow();
            }
        }
        if (caller_.ended() || caller_.closed()) {
            if (phase_ == phase::head && !caller_.closed() && caller_.read_error() == asio::error::eof) {
                co_return core::caller_error(errc::bad_request, "the head ends in the middle");
            }
            co_return core::caller_error(errc::caller_gone);
        }
        if (alarm_.expired()) {
            if (phase_ == phase::idle && draining_) {
                caller_.close();
            }
            if (phase_ == phase::idle) {
                co_return core::caller_error(errc::caller_gone, "idle");
            }
            co_return core::caller_error(errc::request_timeout, "head");
        }
        caller_.arm();
        co_await alarm_.wait();
    }
}

bool server_connection::closing() const noexcept
{
    return close_ || draining_ || !body_read_ || !head().keep_alive || served_ >= settings_.requests;
}

routine<core::result<>> server_connection::send(pieces what)
{
    auto sent = try_send(what);
    if (!sent) {
        sent = co_await finish_send();
    }
    co_return std::move(*sent);
}

std::optional<core::result<>> server_connection::try_send(pieces what)
{
    answered_ = true;
    caller_.write(what);
    if (caller_.writing()) {
        return std::nullopt;
    }
    return sent();
}

core::result<> server_connection::sent()
{
    if (aborted_) {
        return core::gateway_error(errc::draining, "write");
    }
    if (caller_.write_error() || caller_.closed()) {
        cut_ = true;
        return core::caller_error(errc::caller_gone, "write");
    }
    return {};
}

routine<core::result<>> server_connection::finish_send()
{
    const auto before = due();
    auto taken = caller_.bytes_out();
    bool stalled = false;
    alarm_.start(write_patience());
    while (caller_.writing() && !stalled && !caller_.closed()) {
        co_await alarm_.wait();
        if (alarm_.expired()) {
            stalled = std::exchange(taken, caller_.bytes_out()) == caller_.bytes_out();
            alarm_.start(write_patience());
        }
    }
    alarm_.stop();
    set_due(before);
    if (stalled) {
        unframed_ = unframed_ || !hurried_;  // it had its time: the system need not keep what it has not taken
        close_cut();
        co_return core::caller_error(errc::caller_gone, "takes nothing");
    }
    co_return sent();
}

core::duration server_connection::write_patience() const noexcept
{
    return hurried_ ? std::min(settings_.write_timeout, last_write_grace) : settings_.write_timeout;
}

void server_connection::hurry()
{
    hurried_ = true;
    if (caller_.writing()) {
        alarm_.start(write_patience());
    }
}

void server_connection::release_request()
{
    if (body_read_) {
        released_ = request_bytes();
        finish_request();
        space_->request_scratch = {};
    }
}

void server_connection::finish_request()
{
    caller_.consume(request_length_);
    head_length_ = 0;
    request_length_ = 0;
    body_taken_ = 0;
    // What has come of the next request counts while it needs memory of its own: the share only becomes smaller.
    const auto left = caller_.received().size();
    hold(left > large_block ? left : 0);
    caller_.release_spare_room();  // not later: what comes next is parsed where it lies
}

void server_connection::drain()
{
    draining_ = true;
    const auto grace = served_ == 0 ? first_request_grace : kept_grace;
    if (phase_ == phase::idle && due() > loop_.now() + grace) {
        alarm_.start(grace);
    }
}

void server_connection::abort()
{
    aborted_ = true;
    close_cut();
    // Whatever the exchange waits for, it has to see that its caller is gone.
    alarm_.start(core::duration{0});
}

}  // namespace net
