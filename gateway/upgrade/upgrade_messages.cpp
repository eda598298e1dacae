#include "gateway/upgrade/upgrade_messages.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>

#include <limits>
#include <utility>

namespace gateway::upgrade {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t head_size = 1 + length_size;
constexpr std::size_t number_size = 8;
constexpr std::size_t kept_room = 64 * 1024;  // that a reader has used before it gives up what was read

void append(std::string& to, std::uint64_t value, std::size_t size)
{
    for (std::size_t i = size; i-- > 0;) {
        to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
}

std::uint64_t number_in(std::string_view bytes)
{
    std::uint64_t value = 0;
    for (const char each : bytes) {
        value = value << 8 | static_cast<unsigned char>(each);
    }
    return value;
}

core::error too_large(std::uint64_t size, std::size_t largest)
{
    return core::gateway_error(
        core::errc::too_large,
        "hand-over: a message of " + std::to_string(size) + " bytes; the largest has " + std::to_string(largest)
    );
}

}  // namespace

core::result<std::string> framed(const handover_message& message, std::size_t largest)
{
    const auto size = message.content.size();
    if (size > largest || size > std::numeric_limits<std::uint32_t>::max()) {
        return too_large(size, largest);
    }
    std::string out;
    out.reserve(head_size + size);
    out.push_back(static_cast<char>(message.word));
    append(out, size, length_size);
    out += message.content;
    return out;
}

core::result<std::optional<handover_message>> handover_reader::next()
{
    const auto rest = std::string_view{bytes_}.substr(taken_);
    if (rest.size() < head_size) {
        return std::optional<handover_message>{};
    }
    const auto size = number_in(rest.substr(1, length_size));
    if (size > largest_) {
        return too_large(size, largest_);
    }
    if (rest.size() - head_size < size) {
        return std::optional<handover_message>{};
    }
    handover_message out{
        static_cast<handover_word>(static_cast<unsigned char>(rest.front())),
        std::string{rest.substr(head_size, static_cast<std::size_t>(size))}
    };
    taken_ += head_size + out.content.size();
    if (taken_ == bytes_.size() || taken_ > kept_room) {
        bytes_.erase(0, std::exchange(taken_, 0));
    }
    return std::optional{std::move(out)};
}

handover_writer& handover_writer::number(std::uint64_t value)
{
    append(content_, value, number_size);
    return *this;
}

handover_writer& handover_writer::text(std::string_view value)
{
    append(content_, value.size(), number_size);
    content_ += value;
    return *this;
}

std::string_view handover_content::piece(std::size_t size)
{
    if (!good_ || rest_.size() < size) {
        good_ = false;
        return {};
    }
    const auto out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
}

std::uint64_t handover_content::number()
{
    return number_in(piece(number_size));
}

std::string handover_content::text()
{
    const auto size = number();
    if (size > rest_.size()) {
        good_ = false;
        return {};
    }
    return std::string{piece(static_cast<std::size_t>(size))};
}

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

void handover_channel::listen(std::function<void(const handover_message& message)> told)
{
    told_ = std::move(told);
    hear_on();
}

void handover_channel::hear_on()
{
    auto read = reader_.next();
    for (; read && *read; read = reader_.next()) {
        told_(**read);
    }
    if (!read) {
        return;
    }
    socket_.async_read_some(net::asio::buffer(piece_), [this](net::error_code ec, std::size_t count) {
        if (!ec) {
            reader_.add({piece_.data(), count});
            hear_on();
        }
    });
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
