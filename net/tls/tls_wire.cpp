#include "net/tls/tls_wire.hpp"

#include "net/loop/transport.hpp"

#include <boost/asio/error.hpp>

#include <openssl/bio.h>
#include <sys/socket.h>

#include <cerrno>

namespace net {
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

}  // namespace net
