// One side of a conversation: a transport with its receive buffer and what has come of it so far. Whoever uses the
// stream says what it wants (arm(), write()), and is woken through the signal when something has changed. The buffer is
// held only while bytes lie in it. One thread.
#pragma once

#include "net/loop/buffer_pool.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/poller.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/transport.hpp"

#include <boost/asio/ssl/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace net {

class stream final : private watched {
public:
    // A connected, non-blocking socket, or none yet: adopt().
    explicit stream(loop& owner, core::descriptor socket = {});
    ~stream();
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    // A connected, non-blocking socket for a stream that has none. An error: it has none still, and the socket is closed.
    error_code adopt(core::descriptor socket);

    // Begins a TLS handshake on a connected socket. `opened`, which may destroy the stream, or else the signal reports its end: opening()
    // is false then, and a handshake that has failed has ended the stream with read_error().
    error_code start_tls(SSL_CTX& context, tls_role role, std::function<void(error_code)> opened = {});
    bool opening() const noexcept { return opening_ != stage::open; }

    // Who is woken when something has changed; null: nobody, it is looked at later.
    void set_listener(signal* listener) noexcept { listener_ = listener; }

    // Bytes that have arrived and are not consumed. The view holds until something of this stream changes its buffer:
    // compact(), reserve(), grow(), truncate(), release_spare_room(), and arm() when nothing is received.
    std::string_view received() const noexcept { return {block_.bytes.get() + begin_, end_ - begin_}; }
    void consume(std::size_t bytes) noexcept;

    // Moves what was received to the front of the buffer.
    void compact() noexcept;

    // Room for `capacity` bytes from the start of received(); views are void after it.
    void reserve(std::size_t capacity);
    std::size_t capacity() const noexcept { return block_.size; }

    // The room that a buffer begins with; small_block, unless it is set.
    void set_first_room(std::size_t capacity) noexcept { first_room_ = capacity; }

    // Room for more bytes when full(): by moving to the front, or else by doubling. As reserve().
    void grow();

    // Editing of what was received, for decoding in place. Offsets count from its start.
    void move(std::size_t to, std::string_view bytes_within) noexcept;
    void truncate(std::size_t size) noexcept;

    // Moves what is left of a large buffer into a smaller one, if it needs less than half of it; views are void after it.
    void release_spare_room();

    // Drops what was received, and its buffer.
    void discard() noexcept;

    // More bytes, or the end, are wanted: they come, with one wake-up, once. Gives the buffer back while it is empty.
    void arm();

    // Takes in bytes that are known to have come now, not in turn.
    void look() { poller::tell_now(*this); }

    // Nothing more fits behind what was received.
    bool full() const noexcept { return end_ == block_.size && block_.size != 0; }

    // The peer will send no more (end of stream or error); what was received before stays.
    bool ended() const noexcept { return ended_; }
    error_code read_error() const noexcept { return read_error_; }

    // After it ended: with a reset or another error.
    bool broken() const noexcept
    {
        return read_error_ != asio::error::eof && read_error_ != asio::ssl::error::stream_truncated;
    }

    // Writes as much as the socket takes now, and the rest when it takes more: writing() until then.
    // The pieces' bytes must outlive the write.
    void write(pieces content);
    bool writing() const noexcept { return writing_; }
    error_code write_error() const noexcept { return write_error_; }

    // Ends both directions; whoever waits is woken soon. `hard`: with a reset.
    void close(bool hard = false);
    void shutdown_send() noexcept { transport_.shutdown_send(); }
    bool closed() const noexcept { return closed_; }

    transport& wire() noexcept { return transport_; }
    std::uint64_t bytes_in() const noexcept { return bytes_in_; }
    std::uint64_t bytes_out() const noexcept { return bytes_out_; }

private:
    enum class stage : std::uint8_t { shaking_hands, open };

    void on_ready(std::uint32_t events) override;
    void go_on_opening();
    void end_opening(error_code ec);
    bool read_some();
    bool write_some();
    void release_if_empty() noexcept;
    void move_to(std::size_t capacity);
    void notify();

    loop& loop_;
    transport transport_;
    signal* listener_ = nullptr;
    std::function<void(error_code)> opened_;  // of the handshake under way
    block block_;
    std::size_t first_room_ = small_block;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    pieces out_;
    error_code read_error_;
    error_code write_error_;
    std::uint64_t bytes_in_ = 0;
    std::uint64_t bytes_out_ = 0;
    stage opening_ = stage::open;
    bool armed_ = false;
    bool readable_ = false;  // for all we know
    bool hung_up_ = false;   // the end, or an error, stands behind what can be read
    bool writing_ = false;
    bool ended_ = false;
    bool closed_ = false;
};

}  // namespace net
