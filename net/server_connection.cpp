#include "net/server_connection.hpp"

#include "net/http1/chunked.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

namespace net {
namespace {

using core::errc;

constexpr std::size_t lingering_bytes = 64 * 1024;
constexpr core::duration lingering_time{1000};
constexpr std::string_view continue_head = "HTTP/1.1 100 Continue\r\n\r\n";

std::string address_of(const tcp_socket& socket)
{
    error_code ec;
    const auto peer = socket.remote_endpoint(ec);
    return ec ? std::string{} : peer.address().to_string();
}

}  // namespace

void alarm::start(core::duration from_now)
{
    start_until(std::chrono::steady_clock::now() + from_now);
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
    tcp_socket socket,
    http_handler& handler,
    const server_settings& settings
)
    : loop_{owner},
      handler_{handler},
      settings_{settings},
      caller_{owner, std::move(socket)},
      alarm_{*this},
      parser_{settings.head},
      peer_{address_of(caller_.wire().socket())}
{
    caller_.set_listener(&alarm_.wake());
    loop_.timers().add(*this);
}

task<> server_connection::run()
{
    bool again = true;
    while (again) {
        again = co_await serve_one();
    }
    phase_ = phase::closing;
    if (cut_) {
        caller_.close(/*hard=*/true);
    } else if (!caller_.closed()) {
        co_await linger();
    }
    alarm_.stop();
    while (!caller_.quiet()) {
        co_await alarm_.wait();
    }
}

// One request; false when the connection is over.
task<bool> server_connection::serve_one()
{
    answered_ = false;
    body_read_ = false;
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

task<> server_connection::guarded_handle()
{
    fault_.clear();
    try {
        co_await handler_.handle(*this);
    } catch (const std::exception& bug) {
        fault_ = bug.what();
    }
    if (!fault_.empty()) {
        handler_.failed(fault_);
        close_ = true;
        if (answered_) {
            cut_ = true;
        } else {
            co_await handler_.refuse(*this, core::gateway_error(errc::internal, fault_));
        }
    } else if (!answered_ && !caller_left()) {
        handler_.failed("a handler returned without an answer");
        cut_ = true;
    }
}

task<core::result<>> server_connection::read_head()
{
    parser_.reset();
    started_ = std::chrono::steady_clock::now();
    phase_ = caller_.received().empty() ? phase::idle : phase::head;
    idle_since_ = started_;
    // A connection's first request has the header timeout from the start, later ones may keep it idle for longer.
    const bool first = caller_.bytes_out() == 0;
    alarm_.start(phase_ == phase::head || first ? settings_.header_timeout : settings_.idle_timeout);
    for (;;) {
        if (!caller_.received().empty()) {
            if (phase_ == phase::idle) {
                phase_ = phase::head;
                started_ = std::chrono::steady_clock::now();
                alarm_.start(settings_.header_timeout);
            }
            auto parsed = parser_.parse(caller_.received());
            if (!parsed) {
                co_return std::move(parsed).error();
            }
            if (*parsed > 0) {
                head_length_ = *parsed;
                request_length_ = head_length_;
                co_return core::result<>{};
            }
            if (caller_.full() && !caller_.reading()) {
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
            if (phase_ == phase::idle) {
                co_return core::caller_error(errc::caller_gone, "idle");
            }
            co_return core::caller_error(errc::request_timeout, "head");
        }
        if (draining_ && phase_ == phase::idle) {
            co_return core::caller_error(errc::caller_gone, "draining");
        }
        caller_.arm();
        co_await alarm_.wait();
    }
}

task<core::result<std::string_view>> server_connection::read_body(std::uint64_t limit)
{
    if (body_read_) {
        co_return caller_.received().substr(head_length_, request_length_ - head_length_);
    }
    if (head().body == http1::framing::length && head().content_length > limit) {
        close_ = true;
        co_return core::caller_error(errc::body_too_large);
    }
    if (head().expect_continue && caller_.received().size() == head_length_) {
        co_await say_continue();
    }
    alarm_.start(settings_.body_timeout);
    core::result<std::string_view> body = std::string_view{};
    if (head().body == http1::framing::length) {
        body = co_await read_sized_body();
    } else {
        body = co_await read_chunked_body(limit);
    }
    alarm_.stop();
    if (body) {
        body_read_ = true;
    } else {
        close_ = true;
    }
    co_return body;
}

task<> server_connection::say_continue()
{
    pieces what;
    what.add(continue_head);
    // A caller that does not take it does not send the body either: the body timeout ends both.
    caller_.write(what);
    while (caller_.writing() && !caller_left()) {
        co_await alarm_.wait();
    }
}

// Views into the buffer move: the head is parsed once more where it lies now.
void server_connection::make_room()
{
    caller_.grow();
    parser_.reset();
    const auto parsed = parser_.parse(caller_.received());
    if (!parsed || *parsed != head_length_) {
        throw std::logic_error("a head that was parsed does not parse again");
    }
}

// A full buffer takes no read, and without one nobody notices that the caller leaves while its call is answered.
void server_connection::keep_watching()
{
    if (caller_.full() && !caller_.reading()) {
        make_room();
    }
}

// Waits until more than `bytes` bytes of this request have been received.
task<core::result<>> server_connection::need(std::size_t bytes)
{
    while (caller_.received().size() <= bytes) {
        if (caller_left()) {
            co_return core::caller_error(errc::caller_gone, "body");
        }
        if (alarm_.expired()) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        caller_.arm();
        co_await alarm_.wait();
    }
    co_return core::result<>{};
}

task<core::result<std::string_view>> server_connection::read_sized_body()
{
    const auto total = head_length_ + static_cast<std::size_t>(head().content_length);
    while (caller_.received().size() < total) {
        if (caller_.full() && !caller_.reading()) {
            // By doubling, not by what the caller announces: a length costs nothing to write.
            make_room();
        }
        auto more = co_await need(caller_.received().size());
        if (!more) {
            co_return std::move(more).error();
        }
    }
    keep_watching();
    request_length_ = total;
    co_return caller_.received().substr(head_length_, total - head_length_);
}

task<core::result<std::string_view>> server_connection::read_chunked_body(std::uint64_t limit)
{
    http1::chunked_decoder decoder;
    std::size_t body_end = head_length_;  // the decoded body stands in front of what is still coded
    std::size_t coded = head_length_;
    while (!decoder.finished()) {
        auto step = decoder.decode(caller_.received().substr(coded));
        if (!step) {
            co_return core::caller_error(step.error().code, step.error().detail);
        }
        if (!step->data.empty()) {
            if (body_end - head_length_ + step->data.size() > limit) {
                co_return core::caller_error(errc::body_too_large);
            }
            caller_.move(body_end, step->data);
            body_end += step->data.size();
        }
        coded += step->consumed;
        if (!decoder.finished() && coded == caller_.received().size()) {
            if (!caller_.reading()) {
                caller_.truncate(body_end);
                coded = body_end;
                if (caller_.full()) {
                    make_room();
                }
            }
            auto more = co_await need(coded);
            if (!more) {
                co_return std::move(more).error();
            }
        }
    }
    keep_watching();
    request_length_ = coded;
    co_return caller_.received().substr(head_length_, body_end - head_length_);
}

bool server_connection::closing() const noexcept
{
    return close_ || draining_ || !body_read_ || !head().keep_alive;
}

task<core::result<>> server_connection::send(pieces what)
{
    answered_ = true;
    caller_.write(what);
    if (caller_.writing()) {
        const auto before = due();
        alarm_.start(settings_.write_timeout);
        while (caller_.writing() && !alarm_.expired() && !caller_.closed()) {
            co_await alarm_.wait();
        }
        const bool stalled = alarm_.expired();
        alarm_.stop();
        set_due(before);
        if (stalled) {
            cut_ = true;
            caller_.close(/*hard=*/true);
            while (caller_.writing()) {
                co_await alarm_.wait();
            }
            co_return core::caller_error(errc::caller_gone, "takes nothing");
        }
    }
    if (caller_.write_error() || caller_.closed()) {
        cut_ = true;
        co_return core::caller_error(errc::caller_gone, "write");
    }
    co_return core::result<>{};
}

void server_connection::finish_request()
{
    caller_.consume(request_length_);
    head_length_ = 0;
    request_length_ = 0;
}

// RFC 9112 section 9.6: bytes still on their way must not turn the answer's end into a reset.
task<> server_connection::linger()
{
    caller_.shutdown_send();
    std::size_t discarded = 0;
    alarm_.start(lingering_time);
    while (!caller_left() && !alarm_.expired() && discarded < lingering_bytes) {
        discarded += caller_.received().size();
        caller_.consume(caller_.received().size());
        caller_.arm();
        co_await alarm_.wait();
    }
    caller_.close();
}

void server_connection::drain()
{
    draining_ = true;
    if (phase_ == phase::idle) {
        caller_.close();
    }
}

void server_connection::abort()
{
    cut_ = true;
    caller_.close(/*hard=*/true);
    // Whatever the exchange waits for, it has to see that its caller is gone.
    alarm_.start(core::duration{0});
}

void server_connection::on_sweep(core::steady_time now)
{
    if (phase_ == phase::idle && now - idle_since_ > 2 * sweep_interval) {
        caller_.doze();
    }
}

}  // namespace net
