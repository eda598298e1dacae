#include "net/transport.hpp"

#include <boost/asio/socket_base.hpp>

#include <algorithm>
#include <utility>

namespace net {
namespace {

constexpr std::size_t tls_record = 16 * 1024;  // RFC 8446 section 5.1

}  // namespace

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

transport::transport(tcp_socket socket)
    : socket_{std::move(socket)}
{
}

transport::~transport() = default;

transport::tls_stream& transport::start_tls(asio::ssl::context& context)
{
    tls_ = std::make_unique<tls_stream>(socket_, context);
    record_ = std::make_unique<char[]>(tls_record);
    return *tls_;
}

std::size_t transport::write_now(const pieces& what, error_code& ec)
{
    assert(!secure());
    return socket_.write_some(what, ec);
}

void transport::close() noexcept
{
    error_code ignored;  // closing a socket that the peer has closed is no failure
    socket_.close(ignored);
}

void transport::abort() noexcept
{
    error_code ignored;
    socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
    socket_.close(ignored);
}

void transport::shutdown_send() noexcept
{
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

asio::const_buffer transport::flattened(const pieces& what)
{
    std::size_t length = 0;
    for (const auto& piece : what) {
        const auto taken = std::min(piece.size(), tls_record - length);
        std::copy_n(static_cast<const char*>(piece.data()), taken, record_.get() + length);
        length += taken;
        if (length == tls_record) {
            break;
        }
    }
    return {record_.get(), length};
}

}  // namespace net
