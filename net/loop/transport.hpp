// A byte stream to a peer over a non-blocking socket, plain or TLS. Nothing here waits. One thread.
#pragma once

#include "core/descriptor.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <openssl/types.h>

#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <string_view>

namespace net {

// The socket has no bytes, or no room for any, at the moment.
inline bool blocked(const error_code& ec)
{
    return ec == asio::error::would_block || ec == asio::error::try_again;
}

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

    // Adds pieces of which nothing was dropped.
    void add(const pieces& more)
    {
        for (const auto& each : more) {
            add(std::string_view{static_cast<const char*>(each.data()), each.size()});
        }
    }

    // Drops `bytes` from the front, which is at most size().
    void consume(std::size_t bytes) noexcept;

    const_iterator begin() const noexcept { return list_.data() + first_; }
    const_iterator end() const noexcept { return list_.data() + count_; }
    std::size_t size() const noexcept { return size_; }
    bool full() const noexcept { return count_ == list_.size(); }

    static constexpr std::size_t most = 12;

private:
    std::array<asio::const_buffer, most> list_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t size_ = 0;
};

// The two ends of a connection within the process, non-blocking. Both are closed if the system has no more descriptors.
std::array<core::descriptor, 2> connected_pair();

enum class tls_role { client, server };

class transport {
public:
    explicit transport(core::descriptor socket);
    ~transport();
    transport(const transport&) = delete;
    transport& operator=(const transport&) = delete;

    bool open() const noexcept { return socket_.open(); }
    int number() const noexcept { return socket_.number(); }

    // In place of the one before, which is closed.
    void set_socket(core::descriptor socket) noexcept;

    // From here on everything goes through TLS; shake_hands() comes first, until it says something other than
    // would_block. The context may be released meanwhile. Fails when memory has run out.
    error_code start_tls(SSL_CTX& context, tls_role role);
    error_code shake_hands();
    bool secure() const noexcept { return tls_ != nullptr; }
    SSL& tls() noexcept { return *tls_; }  // only if secure()

    // The result of one attempt. would_block: nothing now; asio::error::eof: the peer has ended its side in order (with TLS:
    // said so in TLS, else ssl stream_truncated); anything else: broken.
    struct outcome {
        std::size_t bytes = 0;
        error_code ec;
        bool drained = false;  // of reading: more may be there only after arrived()
    };
    outcome read(asio::mutable_buffer into);

    // At most one TLS record at a time. `record` is room for it, `tls_record` bytes, needed for this call alone; a write
    // that would block is repeated with the same bytes.
    outcome write(const pieces& content, char* record);
    static constexpr std::size_t tls_record = 16 * 1024;  // RFC 8446 section 5.1

    // Readiness was announced: read() looks at the socket again.
    void arrived() noexcept { drained_ = false; }

    // Ends both directions. `hard`: the peer gets a reset, so that what it has received does not pass for complete.
    void close(bool hard) noexcept;

    // No more from us; the peer may still send.
    void shutdown_send() noexcept;

private:
    friend struct tls_wire;

    struct tls_deleter {
        void operator()(SSL* tls) const noexcept;
    };

    outcome receive(void* into, std::size_t size) noexcept;
    outcome tls_outcome(int result);

    core::descriptor socket_;
    std::unique_ptr<SSL, tls_deleter> tls_;
    error_code wire_error_;  // of the last system call below TLS
    bool drained_ = false;
};

}  // namespace net
