#include "net/loop/stream.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace net {
namespace {

constexpr std::uint32_t says_end = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t says_broken = EPOLLHUP | EPOLLERR;

}  // namespace

stream::stream(loop& owner, core::descriptor socket)
    : loop_{owner},
      transport_{std::move(socket)}
{
    if (transport_.open()) {
        if (const auto ec = loop_.ready().add(transport_.number(), *this)) {
            transport_.close(/*hard=*/true);
            closed_ = true;
            ended_ = true;
            read_error_ = ec;
        }
    }
}

stream::~stream()
{
    listener_ = nullptr;
    close();
    loop_.buffers().give(std::move(block_));
}

error_code stream::adopt(core::descriptor socket)
{
    assert(!transport_.open() && !closed_);
    if (const auto ec = loop_.ready().add(socket.number(), *this)) {
        return ec;
    }
    transport_.set_socket(std::move(socket));
    return {};
}

error_code stream::start_tls(SSL_CTX& context, tls_role role, std::function<void(error_code)> opened)
{
    assert(!opening() && !closed_);
    if (const auto ec = transport_.start_tls(context, role)) {
        return ec;
    }
    opening_ = stage::shaking_hands;
    opened_ = std::move(opened);
    loop_.ready().wake(*this);
    return {};
}

void stream::consume(std::size_t bytes) noexcept
{
    assert(bytes <= end_ - begin_);
    begin_ += bytes;
    if (begin_ == end_) {
        begin_ = 0;
        end_ = 0;
    }
}

void stream::compact() noexcept
{
    if (begin_ > 0) {
        std::memmove(block_.bytes.get(), block_.bytes.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
}

void stream::reserve(std::size_t capacity)
{
    if (block_.size >= capacity) {
        compact();
    } else {
        move_to(capacity);
    }
}

void stream::move_to(std::size_t capacity)
{
    auto other = loop_.buffers().take(capacity);
    if (end_ > begin_) {
        std::memcpy(other.bytes.get(), block_.bytes.get() + begin_, end_ - begin_);
    }
    end_ -= begin_;
    begin_ = 0;
    loop_.buffers().give(std::exchange(block_, std::move(other)));
}

void stream::release_spare_room()
{
    const auto left = std::max(end_ - begin_, small_block);
    if (block_.size > large_block && left < block_.size / 2) {
        move_to(left);
    }
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
    end_ = begin_ + size;
}

void stream::discard() noexcept
{
    begin_ = end_;
    release_if_empty();
}

void stream::move(std::size_t to, std::string_view bytes_within) noexcept
{
    std::memmove(block_.bytes.get() + begin_ + to, bytes_within.data(), bytes_within.size());
}

void stream::release_if_empty() noexcept
{
    if (begin_ == end_ && block_.size > 0) {
        loop_.buffers().give(std::exchange(block_, {}));
        begin_ = 0;
        end_ = 0;
    }
}

void stream::arm()
{
    if (ended_ || closed_) {
        return;
    }
    armed_ = true;
    if (readable_ && !full()) {
        loop_.ready().wake(*this);
    } else {
        release_if_empty();
    }
}

void stream::on_ready(std::uint32_t events)
{
    if (closed_) {
        notify();
        return;
    }
    hung_up_ = hung_up_ || (events & says_end) != 0;
    if ((events & (EPOLLIN | says_end)) != 0) {
        readable_ = true;
        transport_.arrived();
    }
    if (opening()) {
        go_on_opening();
        return;
    }
    bool changed = false;
    if (writing_) {
        changed = write_some();
    }
    if (armed_ && readable_ && !ended_) {
        if (!full()) {
            changed = read_some() || changed;
        } else if ((events & says_broken) != 0) {
            // There is no room to read up to the error, but whoever would answer the peer must hear of it.
            ended_ = true;
            read_error_ = asio::error::connection_reset;
            changed = true;
        }
    }
    if (changed) {
        notify();
    }
}

void stream::go_on_opening()
{
    const auto ec = transport_.shake_hands();
    if (!blocked(ec)) {
        end_opening(ec);
    }
}

void stream::end_opening(error_code ec)
{
    opening_ = stage::open;
    readable_ = true;  // application data may have come along with the handshake's last message
    if (ec) {
        ended_ = true;
        read_error_ = ec;
    }
    if (opened_) {
        std::exchange(opened_, {})(ec);
    } else {
        notify();
    }
}

// Whether something has come of it.
bool stream::read_some()
{
    if (block_.size == 0) {
        block_ = loop_.buffers().take(first_room_);
    }
    if (hung_up_) {
        transport_.arrived();
    }
    const auto got = transport_.read({block_.bytes.get() + end_, block_.size - end_});
    readable_ = hung_up_ || !got.drained;
    if (blocked(got.ec)) {
        readable_ = false;
        release_if_empty();
        return false;
    }
    armed_ = false;
    end_ += got.bytes;
    bytes_in_ += got.bytes;
    if (got.ec) {
        ended_ = true;
        read_error_ = got.ec;
        release_if_empty();
    }
    return true;
}

void stream::write(pieces content)
{
    assert(!writing_);
    out_ = content;
    if (closed_) {
        write_error_ = asio::error::operation_aborted;
        return;
    }
    if (out_.size() > 0) {
        writing_ = true;
        write_some();
    }
}

// Whether something has come of it: all is written, or nothing more can be.
bool stream::write_some()
{
    bool full = false;
    while (writing_ && !full) {
        const auto sent = transport_.write(out_, transport_.secure() ? loop_.record() : nullptr);
        full = blocked(sent.ec);
        if (!full) {
            bytes_out_ += sent.bytes;
            full = !transport_.secure() && sent.bytes < out_.size();
            out_.consume(sent.bytes);
            write_error_ = sent.ec;
            writing_ = !sent.ec && out_.size() > 0;
        }
    }
    if (writing_) {  // the socket is full: it says when it is not
        write_error_ = loop_.ready().add(transport_.number(), *this);
        writing_ = !write_error_;
    }
    return !writing_;
}

void stream::close(bool hard)
{
    if (closed_) {
        return;
    }
    closed_ = true;
    if (std::exchange(writing_, false)) {
        write_error_ = asio::error::operation_aborted;
    }
    if (transport_.open()) {
        loop_.ready().remove(transport_.number(), *this);
        transport_.close(hard);
    }
    if (listener_ != nullptr) {
        loop_.ready().wake(*this);
    }
}

void stream::notify()
{
    if (listener_ != nullptr) {
        listener_->set();
    }
}

}  // namespace net
