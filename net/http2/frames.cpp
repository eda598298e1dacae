#include "net/http2/frames.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace net::http2 {
namespace {

std::uint32_t byte_at(const char* bytes, unsigned place) noexcept
{
    return static_cast<unsigned char>(bytes[place]);
}

frame_start read_start(const char* bytes) noexcept
{
    const auto stream =
        byte_at(bytes, 5) << 24U | byte_at(bytes, 6) << 16U | byte_at(bytes, 7) << 8U | byte_at(bytes, 8);
    return {
        byte_at(bytes, 0) << 16U | byte_at(bytes, 1) << 8U | byte_at(bytes, 2),
        static_cast<frame_type>(byte_at(bytes, 3)),
        byte_at(bytes, 4),
        static_cast<std::int32_t>(stream & 0x7fffffffU)
    };
}

void add_number(std::string& out, std::uint32_t number, unsigned bytes)
{
    for (unsigned i = bytes; i > 0; --i) {
        out.push_back(static_cast<char>(number >> (8 * (i - 1)) & 0xffU));
    }
}

}  // namespace

void add_goaway(std::string& out, std::int32_t last, std::uint32_t code, std::string_view why)
{
    add_number(out, static_cast<std::uint32_t>(8 + why.size()), 3);
    out.push_back(static_cast<char>(frame_type::goaway));
    out.push_back(0);
    add_number(out, 0, 4);
    add_number(out, static_cast<std::uint32_t>(last), 4);
    add_number(out, code, 4);
    out.append(why);
}

frame_splitter::part frame_splitter::next(std::string_view input) noexcept
{
    if (left_ > 0) {
        const auto size = std::min(left_, input.size());
        left_ -= size;
        return {std::nullopt, input.substr(0, size), size};
    }
    if (start_size_ == 0 && input.size() >= head) {
        const auto frame = read_start(input.data());
        const auto size = std::min(head + frame.length, input.size());
        left_ = head + frame.length - size;
        return {frame, input.substr(0, size), size};
    }
    const auto size = std::min(head - start_size_, input.size());
    std::copy_n(input.data(), size, start_.data() + start_size_);
    start_size_ += size;
    if (start_size_ < head) {
        return {std::nullopt, {}, size};
    }
    start_size_ = 0;
    const auto frame = read_start(start_.data());
    left_ = frame.length;
    return {frame, {start_.data(), head}, size};
}

bool allowance::take(core::steady_time now) noexcept
{
    using milliseconds = std::chrono::milliseconds;
    if (rate_ == 0) {
        return true;
    }
    const auto most = rate_ * burst * scale;
    if (left_ > most) {
        left_ = most;
        since_ = now;
    }
    const auto passed = std::chrono::duration_cast<milliseconds>(now - since_);
    if (passed.count() > 0) {
        const auto counted = std::min(passed, milliseconds{burst * 1000});
        left_ = std::min(left_ + static_cast<std::uint64_t>(counted.count()) * rate_, most);
        since_ += passed;
    }
    if (left_ < scale) {
        return false;
    }
    left_ -= scale;
    return true;
}

frame_watch::verdict frame_watch::look(const frame_start& frame, bool open, bool ended, core::steady_time now) noexcept
{
    prioritized_ = 0;
    switch (frame.type) {
        case frame_type::data:
            if (ended) {
                return look_at_ended(frame, now);
            }
            return frame.length > 0 || (frame.flags & end_stream_flag) != 0 ? verdict::pass : control(now);
        case frame_type::headers:
            return ended ? look_at_ended(frame, now) : verdict::pass;
        case frame_type::rst_stream:
            return open || (is_late(frame.stream) && take_late(frame)) ? verdict::pass : control(now);
        case frame_type::settings:
            return (frame.flags & ack_flag) != 0 ? verdict::pass : control(now);
        case frame_type::ping:
            if ((frame.flags & ack_flag) != 0) {
                const bool asked = pings_out_ > 0;
                pings_out_ -= asked ? 1 : 0;
                return asked ? verdict::pass : control(now);
            }
            return std::exchange(content_sent_, false) || control_.take(now) ? verdict::pass : verdict::too_many_pings;
        case frame_type::window_update:
            if (updates_allowed_ > 0) {
                --updates_allowed_;
                return verdict::pass;
            }
            return control(now);
        case frame_type::push_promise:
        case frame_type::continuation:
            return verdict::pass;  // the library ends the connection over the first, and over too many of the second
        case frame_type::priority:
            if (frame.stream == 0) {
                return verdict::broken_priority;
            }
            prioritized_ = frame.stream;
            dependency_size_ = 0;
            dependency_ = 0;
            break;
        case frame_type::goaway:
            break;
    }
    return control(now);
}

frame_watch::verdict frame_watch::look_inside(std::string_view payload) noexcept
{
    constexpr std::size_t size = 4;
    if (prioritized_ == 0 || dependency_size_ == size) {
        return verdict::pass;
    }
    for (const char byte : payload.substr(0, size - dependency_size_)) {
        dependency_ = dependency_ << 8U | static_cast<unsigned char>(byte);
        ++dependency_size_;
    }
    const bool itself = static_cast<std::int32_t>(dependency_ & 0x7fffffffU) == prioritized_;
    return dependency_size_ == size && itself ? verdict::broken_priority : verdict::pass;
}

frame_watch::verdict frame_watch::control(core::steady_time now) noexcept
{
    return control_.take(now) ? verdict::pass : verdict::too_much_control;
}

// RFC 9113 section 5.1. The library ignores such frames, as it does not know who has ended the stream.
frame_watch::verdict frame_watch::look_at_ended(const frame_start& frame, core::steady_time now) noexcept
{
    const bool late = is_late(frame.stream);
    if (late && take_late(frame)) {
        return verdict::pass;
    }
    const auto counted = control(now);
    if (late || counted != verdict::pass) {
        return counted;
    }
    return frame.type == frame_type::headers ? verdict::headers_after_end : verdict::data_after_end;
}

// The peer may not know yet that the stream is over.
bool frame_watch::is_late(std::int32_t stream) const noexcept
{
    return ending_ || std::find(reset_by_us_.begin(), reset_by_us_.end(), stream) != reset_by_us_.end();
}

bool frame_watch::take_late(const frame_start& frame) noexcept
{
    const bool content = frame.type == frame_type::data && frame.length > 0;
    auto& left = content ? late_bytes_ : late_frames_;
    const auto size = content ? std::uint64_t{frame.length} : 1;
    if (left < size) {
        return false;
    }
    left -= size;
    return true;
}

void frame_watch::expect_late(std::uint64_t streams) noexcept
{
    late_bytes_ = std::min(late_bytes_ + streams * window_, late_windows * window_);
    late_frames_ = std::min(late_frames_ + streams * late_others, late_windows * late_others);
}

void frame_watch::sent_end() noexcept
{
    ending_ = true;
    expect_late(late_windows);
}

bool frame_watch::count_own_reset(error_code code, core::steady_time now) noexcept
{
    switch (code) {
        case error_code::protocol_error:
        case error_code::flow_control_error:
        case error_code::stream_closed:
        case error_code::frame_size_error:
        case error_code::compression_error:
        case error_code::enhance_your_calm:
            return count_reset(now);
        default:
            expect_late(1);
            return true;
    }
}

void frame_watch::sent_data() noexcept
{
    content_sent_ = true;
    updates_allowed_ += updates_for_data;
}

void frame_watch::sent_reset(std::int32_t stream)
{
    if (reset_by_us_.size() < resets_remembered) {
        reset_by_us_.push_back(stream);
    } else {
        reset_by_us_[next_reset_] = stream;
        next_reset_ = (next_reset_ + 1) % resets_remembered;
    }
}

}  // namespace net::http2
