#include "net/server/server_connection.hpp"

#include "core/ascii.hpp"
#include "net/http1/head_writer.hpp"

#include <boost/asio/error.hpp>

#include <openssl/ssl.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace net {
namespace {

using core::errc;

// After drain(): for the request of a caller who has just connected.
constexpr core::duration first_request_grace{1000};

// After the last answer on a connection, for what its caller sends though nothing more is answered.
constexpr std::size_t lingering_bytes = 64 * 1024;
constexpr core::duration lingering_time{1000};
constexpr core::duration lingering_after_fault{500};  // an attack is over within a second

handshake outcome_of(const SSL& complete)
{
    return ::SSL_session_reused(&complete) == 1 ? handshake::resumed : handshake::complete;
}

}  // namespace

server_connection::server_connection(
    loop& owner,
    accepted_socket from,
    http_handler& handler,
    const server_settings& settings,
    request_buffer_pool& spaces
)
    : caller_exchange{owner, from.peer.address().to_string(), std::move(from.sender)},
      handler_{handler},
      settings_{settings},
      caller_{owner, std::move(from.socket)},
      spaces_{spaces},
      answer_{caller_, alarm_, settings.write_timeout},
      body_{settings, caller_, alarm_, space_, answer_}
{
    caller_.set_listener(&alarm_.wake());
    if (sender_ != nullptr) {
        caller_.set_first_room(tiny_block);  // a call from within the process may wait for long, and is seldom large
    }
    if (from.tls != nullptr && !caller_.closed() && caller_.start_tls(*from.tls, tls_role::server)) {
        caller_.close(/*hard=*/true);
    }
    secure_ = caller_.wire().secure();
    if (secure_ && settings_.http2 && !net::offer_http2(caller_.wire().tls())) {
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
        if (served_ == 0) {
            const bool http2 = co_await begins_http2();
            if (http2) {
                co_await run_http2();
                break;
            }
        }
        again = co_await serve_one();
    }
    phase_ = phase::closing;
    if (answer_.needs_reset()) {
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
        certificate_ = close_ ? nullptr : client_certificate_of(caller_.wire().tls());
        handler_.on_handshake(outcome_of(caller_.wire().tls()), peer_, {});
        co_return true;
    }
    if (!draining_) {
        handler_.on_handshake(handshake::failed, peer_, late ? "took too long" : caller_.read_error().message());
    }
    caller_.close();
    co_return false;
}

// By ALPN, or without TLS by the first bytes of the connection (RFC 9113 section 3.3), which must not be read as HTTP/1.1.
routine<bool> server_connection::begins_http2()
{
    if (!settings_.http2 || caller_.received().empty()) {
        co_return false;
    }
    if (caller_.wire().secure()) {
        co_return chose_http2(caller_.wire().tls());
    }
    const auto may_become = [this] {
        const auto size = caller_.received().size();
        return size < http2::preface.size() && caller_.received() == http2::preface.substr(0, size);
    };
    while (may_become() && !caller_left() && !alarm_.expired()) {
        caller_.arm();
        co_await alarm_.wait();
    }
    co_return caller_.received().starts_with(http2::preface);
}

routine<> server_connection::run_http2()
{
    phase_ = phase::exchange;
    const http2_parts
        parts{loop_, caller_, alarm_, handler_, settings_, spaces_, peer_, sender_, certificate_, secure_};
    http2_ = std::make_unique<http2_connection>(parts);
    if (draining_) {
        http2_->drain();
    } else if (ending_) {
        http2_->drain_after_request();
    }
    co_await http2_->run();
}

// The first line of the connection has the form of a request, but neither a method nor a version of HTTP: its sender speaks something
// else, and would read an answer as that.
bool server_connection::is_foreign() const noexcept
{
    const auto received = caller_.received();
    const auto line = received.substr(0, received.find("\r\n"));
    const auto verb = line.substr(0, line.find(' '));
    return settings_.http2 && served_ == 0 && line.size() < received.size() && core::is_token(verb) &&
           std::count(line.begin(), line.end(), ' ') == 2 && line.find(" HTTP/") == std::string_view::npos &&
           boost::beast::http::string_to_verb(verb) == http1::method::unknown;
}

// One request; false when the connection is over.
routine<bool> server_connection::serve_one()
{
    auto got = co_await read_head();
    if (!got) {
        if (got.error().code != errc::caller_gone && !is_foreign()) {
            close_ = true;
            phase_ = phase::exchange;
            co_await handler_.refuse(*this, std::move(got).error());
        }
        co_return false;
    }
    phase_ = phase::exchange;
    ++served_;
    alarm_.stop();
    co_await guarded_handle();
    if (answer_.is_cut() || close_ || caller_.closed() || caller_.write_error() || closing()) {
        co_return false;
    }
    body_.finish();
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
        if (!answered()) {
            co_await handler_.refuse(*this, core::gateway_error(errc::internal, fault));
        } else {
            cut();
        }
    } else if (!answered() && !caller_left()) {
        handler_.failed("a handler returned without an answer");
        cut();
    }
}

void server_connection::begin_wait()
{
    answer_.begin();
    alarm_.begin();
    body_.expect_head();
    started_ = loop_.now();
    phase_ = caller_.received().empty() ? phase::idle : phase::head;
    if (phase_ == phase::idle) {
        space_.reset();
    }
    // A connection's first request has the header timeout from the start, later ones may keep it idle for longer.
    const bool first = caller_.bytes_out() == 0;
    const auto wait = phase_ == phase::head || first ? settings_.header_timeout : settings_.idle_timeout;
    alarm_.start(draining_ ? std::min(wait, first ? first_request_grace : settings_.drain_idle) : wait);
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
    space_->answer_fields.clear();
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
                body_.begin(*parsed);
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
            if (phase_ == phase::head) {
                co_return core::caller_error(errc::request_timeout, "head");
            }
            if (draining_) {
                caller_.close();
            }
            co_return core::caller_error(errc::caller_gone, "idle");
        }
        caller_.arm();
        co_await alarm_.wait();
    }
}

bool server_connection::closing() noexcept
{
    const bool more = body_.whole() && body_.bytes_behind() > 0;  // a request that has come is answered, too
    close_ = close_ || ((ending_ || draining_) && !more && !answered());
    return close_ || !body_.whole() || !head().keep_alive || served_ >= settings_.requests;
}

void server_connection::complete_head(std::string& text, answer_length length)
{
    http1::head_writer out{text};
    const bool chunked = length.is_open() && head().minor_version == 1;
    answer_.frame(chunked && head().verb != http1::method::head);
    if (chunked) {
        out.field("Transfer-Encoding", "chunked");
    } else if (length.is_open()) {
        close_ = true;
        answer_.end_with_connection();
    } else if (const auto bytes = length.bytes()) {
        out.field("Content-Length", *bytes);
    }
    if (closing()) {
        out.field("Connection", "close");
    }
    text += space_->answer_fields;
    out.end();
}

void server_connection::release_request()
{
    if (body_.whole()) {
        body_.release();
        std::string{}.swap(space_->request_scratch);
    }
}

void server_connection::on_sweep(core::steady_time /*now*/)
{
    if (http2_ != nullptr) {
        http2_->rest();
    }
}

// RFC 9112 section 9.6: bytes still on their way must not turn the answer's end into a reset.
routine<> server_connection::linger()
{
    answer_.end_sending();
    caller_.discard();
    body_.give_room();
    if (answered() && !body_.has_come()) {
        co_await drop_rest();
    }
    const bool failed = http2_ != nullptr && http2_->failed();
    const auto until = loop_.now() + (failed ? lingering_after_fault : lingering_time);
    const auto most = caller_.bytes_in() + lingering_bytes;
    bool going_on = true;
    while (going_on && !caller_.closed() && caller_.bytes_in() < most) {
        going_on = co_await dropped_some(until);
    }
    caller_.close();
}

// Reads the rest of a request that was answered before all of it had come. Closes the connection unless the request is whole then.
routine<> server_connection::drop_rest()
{
    budget_share place{settings_.lingering};
    bool going_on = place.set(1);
    const auto until = loop_.now() + settings_.linger;
    const auto begun = caller_.bytes_in();
    while (going_on && !body_.has_come() && caller_.bytes_in() - begun < settings_.linger_bytes) {
        going_on = co_await dropped_some(std::min(until, loop_.now() + settings_.linger_pause));
    }
    if (!body_.has_come()) {
        caller_.close();
    }
}

// Waits for bytes and drops them. False: the caller has left, or nothing came in time.
routine<bool> server_connection::dropped_some(core::steady_time until)
{
    const auto before = caller_.bytes_in();
    alarm_.start_until(until);
    while (caller_.bytes_in() == before && !caller_left() && !alarm_.expired()) {
        caller_.arm();
        co_await alarm_.wait();
    }
    caller_.discard();
    co_return !caller_left() && !alarm_.expired();
}

void server_connection::announce_end()
{
    ending_ = true;
    if (http2_ != nullptr) {
        http2_->drain();
    }
}

void server_connection::drain()
{
    draining_ = true;
    if (http2_ != nullptr) {
        http2_->drain();
    }
    const auto grace = served_ == 0 ? first_request_grace : settings_.drain_idle;
    if (phase_ == phase::idle && due() > loop_.now() + grace) {
        alarm_.start(grace);
    }
}

void server_connection::distrust()
{
    close_ = close_ || caller_.opening();
    if (std::exchange(certificate_, nullptr) != nullptr) {
        drain();
    }
}

void server_connection::abort()
{
    if (http2_ != nullptr) {
        http2_->abort();
    }
    answer_.abort();
    alarm_.start(core::duration{0});  // whatever the exchange waits for, it has to see that its caller is gone
}

}  // namespace net
