// How a server_connection reads request bodies.
#include "net/server/server_connection.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

namespace net {
namespace {

using core::errc;

constexpr std::size_t smallest_room = 8 * 1024;  // for pieces of a body
constexpr std::string_view continue_head = "HTTP/1.1 100 Continue\r\n\r\n";

core::error no_room()
{
    return core::gateway_error(errc::overloaded, "bodies");
}

}  // namespace

routine<core::result<std::string_view>> server_connection::read_body(std::uint64_t limit)
{
    if (!body_read_) {
        auto whole = co_await hold_body(std::numeric_limits<std::uint64_t>::max(), limit);
        if (!whole) {
            co_return std::move(whole).error();
        }
    }
    co_return caller_.received().substr(head_length_, held_);
}

core::result<std::string_view> server_connection::body_at_hand(std::uint64_t limit)
{
    const auto length = head().content_length;
    const bool here =
        head().body == http1::framing::length && length <= limit && caller_.received().size() - head_length_ >= length;
    if (!here || !hold(static_cast<std::size_t>(length))) {
        return core::caller_error(errc::bad_request, "not whole yet, or no room for it");
    }
    held_ = static_cast<std::size_t>(length);
    request_length_ = head_length_ + held_;
    body_read_ = true;
    keep_watching();
    return caller_.received().substr(head_length_, held_);
}

routine<core::result<bool>> server_connection::hold_body(std::uint64_t enough, std::uint64_t limit)
{
    if (body_read_) {
        co_return true;
    }
    const bool sized = head().body == http1::framing::length;
    if (sized && head().content_length > limit) {
        close_ = true;
        co_return core::caller_error(errc::body_too_large);
    }
    body_until_ = loop_.now() + settings_.body_timeout;
    body_counted_ = caller_.bytes_in();
    body_credit_ = settings_.body_grace;
    alarm_.start_until(body_until_);
    core::result<> done;
    if (head().expect_continue && caller_.received().size() == head_length_) {
        done = co_await say_continue();
    }
    if (done && !sized) {
        done = co_await gather_chunks(enough, limit);
    } else if (done && head().content_length <= enough) {
        done = co_await read_sized_body();
    }
    alarm_.stop();
    if (!done) {
        close_ = true;
        co_return std::move(done).error();
    }
    if (body_read_) {
        keep_watching();
    }
    co_return body_read_;
}

routine<core::result<>> server_connection::say_continue()
{
    pieces what;
    what.add(continue_head);
    caller_.write(what);
    co_return co_await finish_send();
}

// Views into the buffer move: the head is parsed once more where it lies now.
void server_connection::make_room()
{
    caller_.grow();
    space_->parser.reset();
    const auto parsed = space_->parser.parse(caller_.received());
    if (!parsed || *parsed != head_length_) {
        throw std::logic_error("a head that was parsed does not parse again");
    }
}

// A full buffer takes no read, and without one nobody notices that the caller leaves while its call is answered.
void server_connection::keep_watching()
{
    if (caller_.full()) {
        make_room();
    }
}

// Waits until more than `bytes` bytes of this request have been received.
routine<core::result<>> server_connection::need(std::size_t bytes)
{
    while (caller_.received().size() <= bytes) {
        if (caller_left()) {
            co_return core::caller_error(errc::caller_gone, "body");
        }
        if (alarm_.expired()) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        const auto now = loop_.now();
        alarm_.start_until(body_due(body_until_, now));
        caller_.arm();
        co_await alarm_.wait();
        waited_for_body(now);
    }
    co_return core::result<>{};
}

core::steady_time server_connection::body_due(core::steady_time until, core::steady_time now) noexcept
{
    if (settings_.body_rate == 0) {
        return until;
    }
    const auto come = caller_.bytes_in() - std::exchange(body_counted_, caller_.bytes_in());
    const std::chrono::microseconds earned{come * 1'000'000 / settings_.body_rate};
    body_credit_ = std::min<core::steady_time::duration>(body_credit_ + earned, settings_.body_grace);
    return std::min(until, now + body_credit_);
}

void server_connection::waited_for_body(core::steady_time since) noexcept
{
    body_credit_ -= loop_.now() - since;
}

routine<core::result<>> server_connection::read_sized_body()
{
    held_ = static_cast<std::size_t>(head().content_length);
    const auto total = head_length_ + held_;
    // What has come counts, and not what the caller announces: a length costs nothing to write.
    while (hold(std::min(caller_.received().size(), total) - head_length_)) {
        if (caller_.received().size() >= total) {
            request_length_ = total;
            body_read_ = true;
            co_return core::result<>{};
        }
        if (caller_.full()) {
            make_room();  // by doubling, for the same reason
        }
        auto more = co_await need(caller_.received().size());
        if (!more) {
            co_return more;
        }
    }
    co_return no_room();
}

// The decoded bytes stand behind the head, in front of what is still coded.
routine<core::result<>> server_connection::gather_chunks(std::uint64_t enough, std::uint64_t limit)
{
    while (!space_->decoder.finished() && held_ <= enough) {
        auto step = space_->decoder.decode(caller_.received().substr(coded_at_));
        if (!step) {
            co_return core::caller_error(step.error().code, step.error().detail);
        }
        if (held_ + step->data.size() + space_->decoder.chunk_left() > limit) {
            co_return core::caller_error(errc::body_too_large);
        }
        if (!step->data.empty()) {
            caller_.move(head_length_ + held_, step->data);
            held_ += step->data.size();
            if (!hold(held_)) {
                co_return no_room();
            }
        }
        coded_at_ += step->consumed;
        if (!space_->decoder.finished() && held_ <= enough && coded_at_ == caller_.received().size()) {
            caller_.truncate(head_length_ + held_);
            coded_at_ = head_length_ + held_;
            if (caller_.full()) {
                make_room();
            }
            auto more = co_await need(coded_at_);
            if (!more) {
                co_return more;
            }
        }
    }
    if (space_->decoder.finished()) {
        request_length_ = coded_at_;
        body_read_ = true;
    }
    co_return core::result<>{};
}

core::result<server_connection::request_piece> server_connection::take_piece(std::uint64_t limit)
{
    request_piece piece;
    if (held_ > 0 || body_read_) {
        piece.data = caller_.received().substr(head_length_, std::exchange(held_, 0));
        piece.last = body_read_;
        body_taken_ += piece.data.size();
        return piece;
    }
    if (coded_at_ == caller_.received().size()) {
        caller_.truncate(head_length_);
        coded_at_ = head_length_;
        if (caller_.capacity() < head_length_ + smallest_room) {
            make_room();  // behind a large head, pieces would shrink to nothing
        }
    }
    const auto available = caller_.received().substr(coded_at_);
    if (head().body == http1::framing::length) {
        const auto left = head().content_length - body_taken_;
        piece.data = available.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, available.size())));
        coded_at_ += piece.data.size();
        piece.last = piece.data.size() == left;
    } else {
        auto step = space_->decoder.decode(available);
        if (!step) {
            close_ = true;
            return core::caller_error(step.error().code, step.error().detail);
        }
        piece.data = step->data;
        coded_at_ += step->consumed;
        piece.last = step->finished;
    }
    body_taken_ += piece.data.size();
    if (body_taken_ + space_->decoder.chunk_left() > limit) {
        close_ = true;
        return core::caller_error(errc::body_too_large);
    }
    if (piece.last) {
        body_read_ = true;
        request_length_ = coded_at_;
    }
    return piece;
}

}  // namespace net
