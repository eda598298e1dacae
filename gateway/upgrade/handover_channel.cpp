#include "gateway/upgrade/handover_channel.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>

#include <utility>

namespace gateway::upgrade {
namespace {

constexpr std::size_t piece_size = 16 * 1024;

}  // namespace

handover_channel::handover_channel(net::executor on, core::descriptor end)
    : socket_{on},
      timer_{on},
      piece_(piece_size, '\0')
{
    net::error_code failed;
    socket_.assign(stream{}, end.number(), failed);
    if (failed) {
        cancelled_ = true;
    } else {
        end.release();
        socket_.non_blocking(true, failed);
    }
}

net::task<core::result<>> handover_channel::send(std::string frame, core::duration silence)
{
    std::size_t sent = 0;
    while (sent < frame.size()) {
        if (cancelled_ || mute_) {
            co_return failure({});
        }
        begin_wait(silence);
        net::error_code ec;
        const auto rest = net::asio::buffer(frame.data() + sent, frame.size() - sent);
        sent += co_await socket_.async_write_some(rest, net::asio::redirect_error(net::use_task, ec));
        end_wait();
        if (ec) {
            mute_ = true;
            co_return failure(ec);
        }
    }
    co_return core::result<>{};
}

net::task<core::result<handover_message>> handover_channel::receive(core::duration silence)
{
    for (;;) {
        auto read = reader_.next();
        if (!read) {
            co_return std::move(read).error();
        }
        if (*read) {
            co_return std::move(**read);
        }
        if (cancelled_) {
            co_return failure({});
        }
        begin_wait(silence);
        net::error_code ec;
        const auto room = net::asio::buffer(piece_);
        const auto count = co_await socket_.async_read_some(room, net::asio::redirect_error(net::use_task, ec));
        end_wait();
        if (ec) {
            co_return failure(ec);
        }
        reader_.add({piece_.data(), count});
    }
}

void handover_channel::cancel()
{
    cancelled_ = true;
    net::error_code ignored;
    socket_.cancel(ignored);
}

// One operation at a time.
void handover_channel::begin_wait(core::duration silence)
{
    expired_ = false;
    turn_ = std::make_shared<bool>();
    timer_.expires_after(silence);
    timer_.async_wait([this, turn = std::weak_ptr<bool>{turn_}](net::error_code cancelled) {
        if (!cancelled && !turn.expired()) {
            expired_ = true;
            net::error_code ignored;
            socket_.cancel(ignored);
        }
    });
}

void handover_channel::end_wait()
{
    turn_.reset();
    timer_.cancel();
}

core::error handover_channel::failure(const net::error_code& why) const
{
    if (cancelled_) {
        return core::gateway_error(core::errc::draining, "the gateway is stopping");
    }
    if (mute_ && !why) {
        return core::gateway_error(core::errc::upstream_reset, "the new process may have got a part of what was said");
    }
    if (expired_) {
        return core::gateway_error(core::errc::upstream_timeout, "the new process was silent for too long");
    }
    if (why == net::asio::error::eof || why == net::asio::error::connection_reset ||
        why == net::asio::error::broken_pipe) {
        return core::gateway_error(core::errc::upstream_reset, "the new process ended");
    }
    return core::gateway_error(core::errc::upstream_reset, "the connection to the new process: " + why.message());
}

}  // namespace gateway::upgrade
