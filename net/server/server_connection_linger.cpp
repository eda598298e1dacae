// How a server_connection ends when its caller may still be sending.
#include "net/server/server_connection.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace net {
namespace {

// After the last answer on a connection, for what its caller sends though nothing more is answered.
constexpr std::size_t lingering_bytes = 64 * 1024;
constexpr core::duration lingering_time{1000};

}  // namespace

// Whether nothing more of this request is to come, as far as its length says.
bool server_connection::is_whole() const noexcept
{
    const bool sized = head_length_ > 0 && head().body == http1::framing::length;
    return body_read_ || (sized && caller_.bytes_in() - begun_at_ >= head_length_ + head().content_length);
}

// The end of a connection that was cut is not said over TLS either (RFC 8446 section 6.1).
void server_connection::end_sending() noexcept
{
    if (cut_) {
        ::shutdown(caller_.wire().number(), SHUT_WR);
    } else {
        caller_.shutdown_send();
    }
}

// What the socket holds still goes out, unless the end would pass for that of the answer.
void server_connection::close_cut()
{
    cut_ = true;
    if (!unframed_) {
        end_sending();
    }
    caller_.close(/*hard=*/unframed_);
}

// RFC 9112 section 9.6: bytes still on their way must not turn the answer's end into a reset.
routine<> server_connection::linger()
{
    end_sending();
    caller_.discard();
    hold(0);
    if (answered_ && !is_whole()) {
        co_await drop_rest();
    }
    const auto until = loop_.now() + lingering_time;
    const auto most = caller_.bytes_in() + lingering_bytes;
    bool going_on = true;
    while (going_on && !caller_.closed() && caller_.bytes_in() < most) {
        going_on = co_await dropped_some(until);
    }
    caller_.close();
}

// Of a request that was answered before all of it had come. Closes the connection unless the request is whole then.
routine<> server_connection::drop_rest()
{
    budget_share place{settings_.lingering};
    bool going_on = place.set(1);
    const auto until = loop_.now() + settings_.linger;
    const auto begun = caller_.bytes_in();
    while (going_on && !is_whole() && caller_.bytes_in() - begun < settings_.linger_bytes) {
        going_on = co_await dropped_some(std::min(until, loop_.now() + settings_.linger_pause));
    }
    if (!is_whole()) {
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

}  // namespace net
