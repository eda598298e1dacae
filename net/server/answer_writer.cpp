#include "net/server/answer_writer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace net {
namespace {

using core::errc;

}  // namespace

void answer_writer::begin() noexcept
{
    answered_ = false;
    chunked_ = false;
    hurried_ = false;
    bytes_out_before_ = caller_.bytes_out();
}

routine<core::result<>> answer_writer::send_interim(pieces content)
{
    caller_.write(content);
    return finish_send();
}

std::optional<core::result<>> answer_writer::try_send(const answer_part& part)
{
    answered_ = true;
    pieces out;
    out.add(part.head);
    if (chunked_ && part.body.size() > 0) {
        chunk_ = http1::chunk_header{part.body.size()};
        out.add(chunk_.text());
        out.add(part.body);
        out.add(http1::chunk_end);
    } else {
        out.add(part.body);
    }
    if (chunked_ && part.last) {
        out.add(http1::last_chunk);
    }
    if (out.size() == 0) {
        return sent();
    }
    caller_.write(out);
    if (caller_.writing()) {
        return std::nullopt;
    }
    return sent();
}

core::result<> answer_writer::sent()
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

routine<core::result<>> answer_writer::finish_send()
{
    const auto before = alarm_.due();
    auto taken = caller_.bytes_out();
    bool stalled = false;
    alarm_.start(patience());
    while (caller_.writing() && !stalled && !caller_.closed()) {
        co_await alarm_.wait();
        if (alarm_.expired()) {
            stalled = std::exchange(taken, caller_.bytes_out()) == caller_.bytes_out();
            alarm_.start(patience());
        }
    }
    alarm_.start_until(before);
    if (stalled) {
        unframed_ = unframed_ || !hurried_;  // it had its time: the system need not keep what it has not taken
        close_cut();
        co_return core::caller_error(errc::caller_gone, "takes nothing");
    }
    co_return sent();
}

core::duration answer_writer::patience() const noexcept
{
    return hurried_ ? std::min(write_timeout_, last_write_grace) : write_timeout_;
}

void answer_writer::hurry()
{
    hurried_ = true;
    if (caller_.writing()) {
        alarm_.start(patience());
    }
}

void answer_writer::abort()
{
    aborted_ = true;
    close_cut();
}

void answer_writer::end_sending() noexcept
{
    if (cut_) {
        ::shutdown(caller_.wire().number(), SHUT_WR);
    } else {
        caller_.shutdown_send();
    }
}

// The bytes in the socket still go out, unless their end would pass for the end of the answer.
void answer_writer::close_cut()
{
    cut_ = true;
    if (!unframed_) {
        end_sending();
    }
    caller_.close(/*hard=*/unframed_);
}

}  // namespace net
