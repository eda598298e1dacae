// One side of a conversation: a transport with its receive buffer and its outcome of the latest operations. A read is
// kept in flight wherever the peer's leaving must be noticed; it costs nothing, because the next message's bytes have
// to be waited for anyway. Operations complete into the stream and set the signal of whoever uses it now. One thread.
#pragma once

#include "net/buffer_pool.hpp"
#include "net/loop.hpp"
#include "net/signal.hpp"
#include "net/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace net {

class stream {
public:
    stream(loop& owner, tcp_socket socket);
    ~stream();  // nothing may be in flight: see quiet()
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    // Sets the socket's options; to be called once it is connected, if it was not when the stream was made.
    void opened() noexcept;

    // Who is woken when an operation completes; null: nobody, the outcome is looked at later.
    void set_listener(signal* listener) noexcept { listener_ = listener; }

    // Bytes that have arrived and are not consumed. The view holds until compact(), reserve(), grow() or truncate().
    std::string_view received() const noexcept { return {block_.bytes.get() + begin_, end_ - begin_}; }
    void consume(std::size_t bytes) noexcept;

    // Moves what was received to the front of the buffer. No read may be in flight.
    void compact() noexcept;

    // Room for `capacity` bytes from the start of received(). No read may be in flight; views are void after it.
    void reserve(std::size_t capacity);
    std::size_t capacity() const noexcept { return block_.size; }

    // Room for more bytes when full(): by moving to the front, or else by doubling. As reserve().
    void grow();

    // Editing of what was received, for decoding in place. Offsets count from its start.
    void move(std::size_t to, std::string_view bytes_within) noexcept;
    void truncate(std::size_t size) noexcept;  // no read may be in flight

    // Has a read in flight, unless one is, the buffer is full, or the stream has ended. Moves nothing.
    void arm();

    // Gives the buffer back while nothing is received and waits for readiness only; arm() or arriving bytes end it.
    void doze();

    bool reading() const noexcept { return read_ != read_state::none; }
    bool full() const noexcept { return end_ == block_.size && block_.size != 0; }

    // The peer will send no more (end of stream or error); what was received before stays.
    bool ended() const noexcept { return ended_; }
    error_code read_error() const noexcept { return read_error_; }

    // Writes as much as the socket takes now, and the rest asynchronously: writing() until then.
    // The pieces' bytes must outlive the write.
    void write(pieces what);
    bool writing() const noexcept { return writing_; }
    error_code write_error() const noexcept { return write_error_; }

    // Ends both directions; what is in flight completes soon. `hard`: with a reset.
    void close(bool hard = false) noexcept;
    void shutdown_send() noexcept { transport_.shutdown_send(); }
    bool closed() const noexcept { return closed_; }

    // Nothing is in flight: the stream may be destroyed.
    bool quiet() const noexcept { return read_ == read_state::none && !writing_; }

    transport& wire() noexcept { return transport_; }
    std::uint64_t bytes_in() const noexcept { return bytes_in_; }
    std::uint64_t bytes_out() const noexcept { return bytes_out_; }

private:
    enum class read_state : std::uint8_t { none, reading, dozing };

    void on_read(error_code ec, std::size_t bytes);
    void on_ready(error_code ec);
    void on_written(error_code ec, std::size_t bytes);
    void write_rest();
    void finish_reading(error_code ec);
    void notify();

    loop& loop_;
    transport transport_;
    signal* listener_ = nullptr;
    block block_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    pieces out_;
    error_code read_error_;
    error_code write_error_;
    std::uint64_t bytes_in_ = 0;
    std::uint64_t bytes_out_ = 0;
    read_state read_ = read_state::none;
    bool dozy_ = false;  // a read is being cancelled in order to doze
    bool writing_ = false;
    bool ended_ = false;
    bool closed_ = false;
};

}  // namespace net
