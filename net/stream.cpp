#include "net/stream.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace net {

stream::stream(loop& owner, tcp_socket socket)
    : loop_{owner},
      transport_{std::move(socket)}
{
    if (transport_.socket().is_open()) {
        opened();
    }
}

void stream::opened() noexcept
{
    error_code ignored;  // a socket that refuses these options fails at its first read or write
    transport_.socket().non_blocking(true, ignored);
    transport_.socket().set_option(tcp::no_delay{true}, ignored);
}

stream::~stream()
{
    assert(quiet());
    loop_.buffers().give(std::move(block_));
}

void stream::consume(std::size_t bytes) noexcept
{
    assert(bytes <= end_ - begin_);
    begin_ += bytes;
    if (begin_ == end_ && read_ != read_state::reading) {
        begin_ = 0;
        end_ = 0;
    }
}

void stream::compact() noexcept
{
    assert(read_ != read_state::reading);
    if (begin_ > 0) {
        std::memmove(block_.bytes.get(), block_.bytes.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
}

void stream::reserve(std::size_t capacity)
{
    assert(read_ != read_state::reading);
    if (block_.size >= capacity) {
        compact();
        return;
    }
    auto bigger = loop_.buffers().take(capacity);
    if (end_ > begin_) {
        std::memcpy(bigger.bytes.get(), block_.bytes.get() + begin_, end_ - begin_);
    }
    end_ -= begin_;
    begin_ = 0;
    loop_.buffers().give(std::exchange(block_, std::move(bigger)));
}

void stream::grow()
{
    if (begin_ > 0) {
        compact();
    } else {
        reserve(std::max(small_block, block_.size * 2));
    }
}

void stream::truncate(std::size_t size) noexcept
{
    assert(read_ != read_state::reading);
    end_ = begin_ + size;
}

void stream::move(std::size_t to, std::string_view bytes_within) noexcept
{
    std::memmove(block_.bytes.get() + begin_ + to, bytes_within.data(), bytes_within.size());
}

void stream::arm()
{
    if (ended_ || closed_) {
        return;
    }
    if (read_ == read_state::dozing) {
        error_code ignored;
        transport_.socket().cancel(ignored);
        return;
    }
    dozy_ = false;
    if (read_ == read_state::reading) {
        return;
    }
    if (block_.size == 0) {
        block_ = loop_.buffers().take(small_block);
    }
    if (end_ == block_.size) {
        return;
    }
    read_ = read_state::reading;
    transport_.async_read_some(
        asio::mutable_buffer{block_.bytes.get() + end_, block_.size - end_},
        [this](error_code ec, std::size_t bytes) { on_read(ec, bytes); }
    );
}

void stream::doze()
{
    // A TLS layer holds buffers of its own and may hold bytes that no readiness announces.
    if (closed_ || ended_ || transport_.secure() || read_ == read_state::dozing || begin_ != end_) {
        return;
    }
    if (read_ == read_state::reading) {
        dozy_ = true;
        error_code ignored;
        transport_.socket().cancel(ignored);
        return;
    }
    loop_.buffers().give(std::exchange(block_, {}));
    begin_ = 0;
    end_ = 0;
    read_ = read_state::dozing;
    transport_.socket().async_wait(tcp_socket::wait_read, [this](error_code ec) { on_ready(ec); });
}

void stream::on_read(error_code ec, std::size_t bytes)
{
    read_ = read_state::none;
    if (bytes > 0) {
        end_ += bytes;
        bytes_in_ += bytes;
        dozy_ = false;
        notify();
        return;
    }
    if (ec == asio::error::operation_aborted && !closed_) {
        if (std::exchange(dozy_, false)) {
            doze();
        } else {
            arm();
        }
        return;
    }
    finish_reading(ec);
}

void stream::on_ready(error_code ec)
{
    read_ = read_state::none;
    if (ec && ec != asio::error::operation_aborted) {
        finish_reading(ec);
        return;
    }
    if (closed_) {
        finish_reading(asio::error::operation_aborted);
        return;
    }
    arm();
}

void stream::finish_reading(error_code ec)
{
    ended_ = true;
    read_error_ = ec;
    notify();
}

void stream::write(pieces what)
{
    assert(!writing_);
    out_ = what;
    if (closed_) {
        write_error_ = asio::error::operation_aborted;
        return;
    }
    if (!transport_.secure()) {
        while (out_.size() > 0) {
            error_code ec;
            const auto bytes = transport_.write_now(out_, ec);
            bytes_out_ += bytes;
            out_.consume(bytes);
            if (ec == asio::error::would_block || ec == asio::error::try_again) {
                break;
            }
            if (ec) {
                write_error_ = ec;
                return;
            }
        }
    }
    if (out_.size() > 0) {
        writing_ = true;
        write_rest();
    }
}

void stream::write_rest()
{
    transport_.async_write_some(out_, [this](error_code ec, std::size_t bytes) { on_written(ec, bytes); });
}

void stream::on_written(error_code ec, std::size_t bytes)
{
    bytes_out_ += bytes;
    out_.consume(bytes);
    if (ec == asio::error::operation_aborted && !closed_) {
        ec = {};  // a doze() or arm() cancelled what was in flight on the socket: this write goes on
    } else if (closed_ && !ec) {
        ec = asio::error::operation_aborted;  // the rest may lie in memory that its owner has given up by now
    }
    if (!ec && out_.size() > 0) {
        write_rest();
        return;
    }
    writing_ = false;
    write_error_ = ec;
    notify();
}

void stream::close(bool hard) noexcept
{
    if (!closed_) {
        closed_ = true;
        if (hard) {
            transport_.abort();
        } else {
            transport_.close();
        }
    }
}

void stream::notify()
{
    if (listener_ != nullptr) {
        listener_->set();
    }
}

}  // namespace net
