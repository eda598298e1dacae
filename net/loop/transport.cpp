#include "net/loop/transport.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace net {
namespace {

std::size_t flatten(const pieces& content, char* record)
{
    std::size_t length = 0;
    for (const auto& piece : content) {
        const auto taken = std::min(piece.size(), transport::tls_record - length);
        std::copy_n(static_cast<const char*>(piece.data()), taken, record + length);
        length += taken;
        if (length == transport::tls_record) {
            break;
        }
    }
    return length;
}

transport::outcome send_plain(int socket, const pieces& content)
{
    std::array<::iovec, pieces::most> parts{};
    std::size_t count = 0;
    for (const auto& piece : content) {
        // sendmsg(2) only reads them.
        auto* const bytes = const_cast<void*>(piece.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        parts[count++] = {bytes, piece.size()};
    }
    ::msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const auto sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0) {
        return {0, last_error(), false};
    }
    return {static_cast<std::size_t>(sent), {}, false};
}

}  // namespace

// OpenSSL reads and writes the socket of a transport through this, without the reads that would find nothing.
struct tls_wire {
    // Owned by the SSL that it is given to; the transport outlives it. Null when memory has run out.
    static BIO* make(transport& below);

    static int read(BIO* bio, char* into, int size);
    static int write(BIO* bio, const char* bytes, int size);
};

namespace {

long control(BIO*, int command, long, void*)
{
    // Everything is written at once: there is nothing to flush, and nothing else that OpenSSL asks is needed.
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method()
{
    auto* method = ::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cardea socket");
    if (method != nullptr) {
        ::BIO_meth_set_read(method, &tls_wire::read);
        ::BIO_meth_set_write(method, &tls_wire::write);
        ::BIO_meth_set_ctrl(method, &control);
    }
    return method;
}

}  // namespace

BIO* tls_wire::make(transport& below)
{
    static BIO_METHOD* const method = make_method();
    auto* bio = method == nullptr ? nullptr : ::BIO_new(method);
    if (bio != nullptr) {
        ::BIO_set_data(bio, &below);
        ::BIO_set_init(bio, 1);
    }
    return bio;
}

int tls_wire::read(BIO* bio, char* into, int size)
{
    auto& below = *static_cast<transport*>(::BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto got = below.receive(into, static_cast<std::size_t>(size));
    below.wire_error_ = got.ec;
    if (got.bytes > 0) {
        return static_cast<int>(got.bytes);
    }
    if (got.ec == asio::error::eof) {
        below.wire_error_ = {};
        return 0;
    }
    if (got.ec == asio::error::would_block || got.ec == asio::error::try_again) {
        BIO_set_retry_read(bio);
    }
    return -1;
}

int tls_wire::write(BIO* bio, const char* bytes, int size)
{
    auto& below = *static_cast<transport*>(::BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto sent = ::send(below.number(), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent >= 0) {
        below.wire_error_ = {};
        return static_cast<int>(sent);
    }
    below.wire_error_ = last_error();
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        BIO_set_retry_write(bio);
    }
    return -1;
}

std::array<core::descriptor, 2> connected_pair()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return {};
    }
    return {core::descriptor{ends[0]}, core::descriptor{ends[1]}};
}

void pieces::consume(std::size_t bytes) noexcept
{
    assert(bytes <= size_);
    size_ -= bytes;
    while (bytes > 0) {
        auto& front = list_[first_];
        const auto taken = std::min(bytes, front.size());
        front += taken;
        bytes -= taken;
        if (front.size() == 0) {
            ++first_;
        }
    }
}

void transport::tls_deleter::operator()(SSL* tls) const noexcept
{
    ::SSL_free(tls);
}

transport::transport(core::descriptor socket)
    : socket_{std::move(socket)}
{
}

transport::~transport() = default;

void transport::set_socket(core::descriptor socket) noexcept
{
    socket_ = std::move(socket);
    drained_ = false;
}

error_code transport::start_tls(SSL_CTX& context, tls_role role)
{
    tls_.reset(::SSL_new(&context));
    ::BIO* wire = tls_ ? tls_wire::make(*this) : nullptr;
    if (wire == nullptr) {
        tls_.reset();
        return asio::error::no_memory;
    }
    ::SSL_set_bio(tls_.get(), wire, wire);
    if (role == tls_role::client) {
        ::SSL_set_connect_state(tls_.get());
    } else {
        ::SSL_set_accept_state(tls_.get());
    }
    return {};
}

error_code transport::shake_hands()
{
    ::ERR_clear_error();
    const int result = ::SSL_do_handshake(tls_.get());
    return result == 1 ? error_code{} : tls_outcome(result).ec;
}

transport::outcome transport::receive(void* into, std::size_t size) noexcept
{
    if (drained_) {
        return {0, asio::error::would_block, true};
    }
    const auto got = ::recv(socket_.number(), into, size, 0);
    if (got > 0) {
        const auto bytes = static_cast<std::size_t>(got);
        drained_ = bytes < size;
        return {bytes, {}, drained_};
    }
    if (got == 0) {
        return {0, asio::error::eof, true};
    }
    const auto ec = last_error();
    drained_ = blocked(ec);
    return {0, ec, drained_};
}

transport::outcome transport::read(asio::mutable_buffer into)
{
    if (!secure()) {
        return receive(into.data(), into.size());
    }
    ::ERR_clear_error();
    const auto room = static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX));
    const int result = ::SSL_read(tls_.get(), into.data(), room);
    if (result > 0) {
        // Bytes in the layer below are not announced again.
        return {static_cast<std::size_t>(result), {}, drained_ && ::SSL_has_pending(tls_.get()) == 0};
    }
    return tls_outcome(result);
}

transport::outcome transport::write(const pieces& content, char* record)
{
    if (!secure()) {
        return send_plain(socket_.number(), content);
    }
    const auto length = flatten(content, record);
    ::ERR_clear_error();
    const int result = ::SSL_write(tls_.get(), record, static_cast<int>(length));
    if (result > 0) {
        return {static_cast<std::size_t>(result), {}, false};
    }
    return tls_outcome(result);
}

transport::outcome transport::tls_outcome(int result)
{
    switch (::SSL_get_error(tls_.get(), result)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
            return {0, asio::error::would_block, true};
        case SSL_ERROR_ZERO_RETURN:
            return {0, asio::error::eof, true};
        case SSL_ERROR_SYSCALL:
            return {0, wire_error_ ? wire_error_ : error_code{asio::ssl::error::stream_truncated}, true};
        default:
            break;
    }
    const auto reason = ::ERR_get_error();
    if (ERR_GET_LIB(reason) == ERR_LIB_SSL && ERR_GET_REASON(reason) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        return {0, asio::ssl::error::stream_truncated, true};
    }
    return {0, error_code{static_cast<int>(reason), asio::error::get_ssl_category()}, true};
}

void transport::close(bool hard) noexcept
{
    if (hard && socket_.open()) {
        const ::linger at_once{.l_onoff = 1, .l_linger = 0};
        // Without it the end is merely less visible, and there is nobody to tell.
        ::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    } else if (secure() && socket_.open()) {
        ::ERR_clear_error();
        ::SSL_shutdown(tls_.get());
    }
    socket_.reset();
}

void transport::shutdown_send() noexcept
{
    if (secure()) {
        ::ERR_clear_error();
        ::SSL_shutdown(tls_.get());  // RFC 8446 section 6.1; whether the peer hears it shows in what it sends
    }
    ::shutdown(socket_.number(), SHUT_WR);
}

}  // namespace net
