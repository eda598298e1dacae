#include "net/server/request_body.hpp"

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

request_body::request_body(
    const server_settings& settings,
    stream& caller,
    alarm& clock,
    const request_buffer_pool::lent& space,
    answer_writer& answer
)
    : settings_{settings},
      caller_{caller},
      alarm_{clock},
      space_{space},
      answer_{answer},
      share_{settings.bodies}
{
}

void request_body::expect_head() noexcept
{
    whole_ = false;
    released_ = 0;
    begun_at_ = caller_.bytes_in() - caller_.received().size();
}

void request_body::begin(std::size_t head_length) noexcept
{
    const auto& head = space_->parser.head();
    head_length_ = head_length;
    request_length_ = head_length;
    coded_at_ = head_length;
    held_ = 0;
    taken_ = 0;
    whole_ = head.body == http1::framing::none || (head.body == http1::framing::length && head.content_length == 0);
}

bool request_body::has_come() const noexcept
{
    if (whole_ || head_length_ == 0) {
        return whole_;
    }
    const auto& head = space_->parser.head();
    return head.body == http1::framing::length && caller_.bytes_in() - begun_at_ >= head_length_ + head.content_length;
}

routine<core::result<std::string_view>> request_body::read(std::uint64_t limit)
{
    if (!whole_) {
        auto held = co_await hold(std::numeric_limits<std::uint64_t>::max(), limit);
        if (!held) {
            co_return std::move(held).error();
        }
    }
    co_return decoded();
}

core::result<std::string_view> request_body::at_hand(std::uint64_t limit)
{
    const auto& head = space_->parser.head();
    const auto length = head.content_length;
    const bool here =
        head.body == http1::framing::length && length <= limit && caller_.received().size() - head_length_ >= length;
    if (!here || !share_.set(length)) {
        return core::caller_error(errc::bad_request, "not whole yet, or no room for it");
    }
    held_ = static_cast<std::size_t>(length);
    end_at(head_length_ + held_);
    keep_watching();
    return decoded();
}

routine<core::result<bool>> request_body::hold(std::uint64_t enough, std::uint64_t limit)
{
    if (whole_) {
        co_return true;
    }
    const auto& head = space_->parser.head();
    const bool sized = head.body == http1::framing::length;
    if (sized && head.content_length > limit) {
        co_return core::caller_error(errc::body_too_large);
    }
    until_ = alarm_.now() + settings_.body_timeout;
    counted_ = caller_.bytes_in();
    credit_ = settings_.body_grace;
    alarm_.start_until(until_);
    core::result<> done;
    if (head.expect_continue && caller_.received().size() == head_length_) {
        pieces interim;
        interim.add(continue_head);
        done = co_await answer_.send_interim(interim);
    }
    if (done && !sized) {
        done = co_await gather_chunks(enough, limit);
    } else if (done && head.content_length <= enough) {
        done = co_await read_sized();
    }
    alarm_.stop();
    if (!done) {
        co_return std::move(done).error();
    }
    if (whole_) {
        keep_watching();
    }
    co_return whole_;
}

// Views into the buffer move: the head is parsed once more where it lies now.
void request_body::make_room()
{
    caller_.grow();
    space_->parser.reset();
    const auto parsed = space_->parser.parse(caller_.received());
    if (!parsed || *parsed != head_length_) {
        throw std::logic_error("a head that was parsed does not parse again");
    }
}

// A full buffer takes no read, and without one nobody notices that the caller leaves while its call is answered.
void request_body::keep_watching()
{
    if (caller_.full()) {
        make_room();
    }
}

// Waits until more than `bytes` bytes of this request have been received.
routine<core::result<>> request_body::need(std::size_t bytes)
{
    while (caller_.received().size() <= bytes) {
        if (caller_.ended() || caller_.closed()) {
            co_return core::caller_error(errc::caller_gone, "body");
        }
        if (alarm_.interrupted()) {
            co_return core::gateway_error(errc::draining, "body");
        }
        if (alarm_.expired()) {
            co_return core::caller_error(errc::request_timeout, "body");
        }
        const auto now = alarm_.now();
        alarm_.start_until(due(until_, now));
        caller_.arm();
        co_await alarm_.wait();
        waited(now);
    }
    co_return core::result<>{};
}

core::steady_time request_body::due(core::steady_time until, core::steady_time now) noexcept
{
    if (settings_.body_rate == 0) {
        return until;
    }
    const auto come = caller_.bytes_in() - std::exchange(counted_, caller_.bytes_in());
    const std::chrono::microseconds earned{come * 1'000'000 / settings_.body_rate};
    credit_ = std::min<core::steady_time::duration>(credit_ + earned, settings_.body_grace);
    return std::min(until, now + credit_);
}

void request_body::waited(core::steady_time since) noexcept
{
    credit_ -= alarm_.now() - since;
}

routine<core::result<>> request_body::read_sized()
{
    held_ = static_cast<std::size_t>(space_->parser.head().content_length);
    const auto total = head_length_ + held_;
    // Received bytes count, not announced ones: a length costs nothing to write.
    while (share_.set(std::min(caller_.received().size(), total) - head_length_)) {
        if (caller_.received().size() >= total) {
            end_at(total);
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
routine<core::result<>> request_body::gather_chunks(std::uint64_t enough, std::uint64_t limit)
{
    while (!whole_ && held_ <= enough) {
        auto data = decode_chunk(held_, limit);
        if (!data) {
            co_return std::move(data).error();
        }
        if (!data->empty()) {
            caller_.move(head_length_ + held_, *data);
            held_ += data->size();
            if (!share_.set(held_)) {
                co_return no_room();
            }
        }
        if (!whole_ && held_ <= enough && coded_at_ == caller_.received().size()) {
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
    co_return core::result<>{};
}

// One step of the coding: its data, as they lie in the buffer.
core::result<std::string_view> request_body::decode_chunk(std::uint64_t decoded_before, std::uint64_t limit)
{
    auto& decoder = space_->decoder;
    auto step = decoder.decode(caller_.received().substr(coded_at_));
    if (!step) {
        return std::move(step).error();
    }
    if (decoded_before + step->data.size() + decoder.chunk_left() > limit) {
        return core::caller_error(errc::body_too_large);
    }
    coded_at_ += step->consumed;
    if (decoder.finished()) {
        end_at(coded_at_);
    }
    return step->data;
}

void request_body::end_at(std::size_t request_length) noexcept
{
    request_length_ = request_length;
    whole_ = true;
}

core::result<request_piece> request_body::take_piece(std::uint64_t limit)
{
    if (held_ > 0 || whole_) {
        const auto data = caller_.received().substr(head_length_, std::exchange(held_, 0));
        taken_ += data.size();
        return request_piece{data, whole_};
    }
    if (coded_at_ == caller_.received().size()) {
        caller_.truncate(head_length_);
        coded_at_ = head_length_;
        if (caller_.capacity() < head_length_ + smallest_room) {
            make_room();  // behind a large head, pieces would shrink to nothing
        }
    }
    std::string_view data;
    if (space_->parser.head().body == http1::framing::length) {
        const auto left = space_->parser.head().content_length - taken_;
        const auto received = caller_.received().substr(coded_at_);
        data = received.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, received.size())));
        coded_at_ += data.size();
        if (data.size() == left) {
            end_at(coded_at_);
        }
    } else {
        auto decoded = decode_chunk(taken_, limit);
        if (!decoded) {
            return std::move(decoded).error();
        }
        data = *decoded;
    }
    taken_ += data.size();
    return request_piece{data, whole_};
}

void request_body::release()
{
    released_ = request_bytes();
    finish();
}

void request_body::finish()
{
    caller_.consume(request_length_);
    head_length_ = 0;
    request_length_ = 0;
    taken_ = 0;
    // Received bytes of the next request count while it needs memory of its own: the share only becomes smaller.
    const auto left = caller_.received().size();
    share_.set(left > large_block ? left : 0);
    caller_.release_spare_room();  // not later: what comes next is parsed where it lies
}

}  // namespace net
