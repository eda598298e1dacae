// A byte stream to a peer, plain or TLS. One read and one write may be in flight at a time; one thread.
#pragma once

#include "net/types.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <string_view>

namespace net {

// Up to eight pieces that go out in one gathered write. Views: the pieces outlive the write.
class pieces {
public:
    using value_type = asio::const_buffer;
    using const_iterator = const asio::const_buffer*;

    void add(std::string_view text)
    {
        if (!text.empty()) {
            assert(count_ < list_.size());
            list_[count_++] = asio::const_buffer{text.data(), text.size()};
            size_ += text.size();
        }
    }

    // Drops `bytes` from the front, which is at most size().
    void consume(std::size_t bytes) noexcept;

    const_iterator begin() const noexcept { return list_.data() + first_; }
    const_iterator end() const noexcept { return list_.data() + count_; }
    std::size_t size() const noexcept { return size_; }
    bool full() const noexcept { return count_ == list_.size(); }

private:
    std::array<asio::const_buffer, 8> list_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t size_ = 0;
};

class transport {
public:
    explicit transport(tcp_socket socket);
    ~transport();
    transport(const transport&) = delete;
    transport& operator=(const transport&) = delete;

    tcp_socket& socket() noexcept { return socket_; }

    // From here on everything goes through TLS; the handshake is the caller's next step.
    using tls_stream = asio::ssl::stream<tcp_socket&>;
    tls_stream& start_tls(asio::ssl::context& context);
    bool secure() const noexcept { return tls_ != nullptr; }
    tls_stream& tls() noexcept { return *tls_; }  // only if secure()

    // Writes what the socket takes at once, without waiting; plain only. would_block in `ec` means: nothing now.
    std::size_t write_now(const pieces& what, error_code& ec);

    template <class Handler>
    void async_read_some(asio::mutable_buffer into, Handler&& handler)
    {
        if (tls_) {
            tls_->async_read_some(into, std::forward<Handler>(handler));
        } else {
            socket_.async_read_some(into, std::forward<Handler>(handler));
        }
    }

    // Plain: the pieces as they are. TLS: one record for all of them (two records cost more than the copy).
    template <class Handler>
    void async_write_some(const pieces& what, Handler&& handler)
    {
        if (tls_) {
            tls_->async_write_some(flattened(what), std::forward<Handler>(handler));
        } else {
            socket_.async_write_some(what, std::forward<Handler>(handler));
        }
    }

    // Ends both directions at once; operations in flight complete with an error. No TLS closing alert is waited for.
    void close() noexcept;

    // Like close(), but the peer gets a reset: what it has received must not pass for a complete answer.
    void abort() noexcept;

    // No more from us; the peer may still send.
    void shutdown_send() noexcept;

private:
    asio::const_buffer flattened(const pieces& what);

    tcp_socket socket_;
    std::unique_ptr<tls_stream> tls_;
    std::unique_ptr<char[]> record_;
};

}  // namespace net
