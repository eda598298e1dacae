#include "tests/support/http_client.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace test_support {

namespace http = boost::beast::http;

namespace {

[[noreturn]] void fail(const std::string& what)
{
    throw std::runtime_error{"http_client: " + what};
}

[[noreturn]] void fail_with_errno(const char* what)
{
    throw std::system_error{errno, std::generic_category(), std::string{"http_client: "} + what};
}

template <class Fields>
field_list to_list(const Fields& fields)
{
    field_list list;
    for (const auto& field : fields) {
        list.emplace_back(std::string{field.name_string()}, std::string{field.value()});
    }
    return list;
}

template <class Parser>
http_response to_response(const Parser& parser)
{
    const auto& message = parser.get();
    return {message.result_int(), std::string{message.reason()}, to_list(message), {}};
}

template <class Parser>
void without_limits(Parser& parser)
{
    parser.header_limit(std::numeric_limits<std::uint32_t>::max());
    parser.body_limit(boost::none);
}

bool wants_http2()
{
    const char* const version = std::getenv("CARDEA_TEST_HTTP");  // NOLINT(concurrency-mt-unsafe)
    return version != nullptr && std::string_view{version} == "2";
}

// Feeds what is there. The number of bytes taken; nothing: more bytes are needed.
template <class Parser>
std::size_t feed(Parser& parser, std::string_view data)
{
    boost::system::error_code failed;
    const auto taken = parser.put(boost::asio::buffer(data), failed);
    if (failed && failed != http::error::need_more) {
        fail("Beast does not accept the response: " + failed.message());
    }
    return taken;
}

}  // namespace

std::string http_version()
{
    return wants_http2() ? "2.0" : "1.1";
}

bool over_http2()
{
    return wants_http2();
}

http_client::http_client(std::uint16_t port, std::chrono::milliseconds timeout)
    : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)},
      timeout_{timeout}
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const auto why = errno;
        close();
        errno = why;
        fail_with_errno("connect");
    }
    if (wants_http2()) {
        voice_ = std::make_unique<http2_voice>(/*secure=*/false);
    }
}

http_client::http_client(std::uint16_t port, const tls_caller& how, std::chrono::milliseconds timeout)
    : http_client{port, timeout}
{
    const bool chooses = how.protocols.empty() && voice_ != nullptr;
    voice_.reset();
    auto asks = how;
    asks.protocols = chooses ? "\x02h2\x08http/1.1" : how.protocols;
    shake_hands(asks);
    if (chooses) {
        voice_ = std::make_unique<http2_voice>(/*secure=*/true);
    }
}

void http_client::tls_deleter::operator()(SSL* tls) const noexcept
{
    SSL_free(tls);
}

void http_client::shake_hands(const tls_caller& how)
{
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), how.newest_tls);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (SSL_CTX_load_verify_file(context.get(), how.ca_file.c_str()) != 1) {
        fail("no authorities in " + how.ca_file);
    }
    if (!how.cert_file.empty() &&
        (SSL_CTX_use_certificate_chain_file(context.get(), how.cert_file.c_str()) != 1 ||
         SSL_CTX_use_PrivateKey_file(context.get(), how.key_file.c_str(), SSL_FILETYPE_PEM) != 1)) {
        fail("no certificate in " + how.cert_file);
    }
    tls_.reset(SSL_new(context.get()));
    auto* const param = SSL_get0_param(tls_.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(param, how.name.c_str()) != 1) {
        X509_VERIFY_PARAM_set1_host(param, how.name.data(), how.name.size());
        SSL_set_tlsext_host_name(tls_.get(), how.name.c_str());
    }
    if (!how.protocols.empty()) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(how.protocols.data());
        SSL_set_alpn_protos(tls_.get(), bytes, static_cast<unsigned>(how.protocols.size()));
    }
    if (how.session != nullptr) {
        SSL_set_session(tls_.get(), how.session);
    }
    ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) | O_NONBLOCK);
    SSL_set_fd(tls_.get(), socket_);
    SSL_set_connect_state(tls_.get());
    const auto by = std::chrono::steady_clock::now() + timeout_;
    for (;;) {
        ERR_clear_error();
        const int done = SSL_do_handshake(tls_.get());
        if (done == 1) {
            return;
        }
        const int why = SSL_get_error(tls_.get(), done);
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
            const auto* const reason = ERR_reason_error_string(ERR_peek_error());
            fail(std::string{"handshake: "} + (reason == nullptr ? "closed" : reason));
        }
        if (!wait_for(why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, by)) {
            fail("no handshake within the timeout");
        }
    }
}

bool http_client::wait_for(short events, std::chrono::steady_clock::time_point by) const
{
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(by - std::chrono::steady_clock::now());
        pollfd ready{socket_, events, 0};
        const auto count = ::poll(&ready, 1, static_cast<int>(std::max<long>(left.count(), 0)));
        if (count >= 0 || errno != EINTR) {
            return count > 0;
        }
    }
}

// As ::send() on a socket that does not block.
long http_client::send_now(std::string_view data)
{
    if (tls_ == nullptr) {
        return ::send(socket_, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ERR_clear_error();
    const int sent = SSL_write(tls_.get(), data.data(), static_cast<int>(data.size()));
    if (sent > 0) {
        return sent;
    }
    errno = SSL_get_error(tls_.get(), sent) == SSL_ERROR_WANT_WRITE ? EAGAIN : EPIPE;
    return -1;
}

// As ::recv() on a socket that does not block.
long http_client::receive_now(char* into, std::size_t size)
{
    if (tls_ == nullptr) {
        return ::recv(socket_, into, size, MSG_DONTWAIT);
    }
    ERR_clear_error();
    const int received = SSL_read(tls_.get(), into, static_cast<int>(size));
    if (received > 0) {
        return received;
    }
    const int why = SSL_get_error(tls_.get(), received);
    in_order_ = why == SSL_ERROR_ZERO_RETURN;
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : ECONNRESET;
    return in_order_ ? 0 : -1;
}

http_client::~http_client()
{
    close();
}

http_client::http_client(http_client&& other) noexcept
    : socket_{std::exchange(other.socket_, -1)},
      tls_{std::move(other.tls_)},
      timeout_{other.timeout_},
      voice_{std::move(other.voice_)},
      buffer_{std::move(other.buffer_)},
      ended_{other.ended_},
      in_order_{other.in_order_}
{
}

bool http_client::try_send(std::string_view data)
{
    if (voice_ == nullptr) {
        return send_bytes(data);
    }
    if (!voice_->say(data)) {
        fail(voice_->leaving() ? "the peer has sent GOAWAY" : "a request that HTTP/2 cannot say");
    }
    const bool sent = send_bytes(voice_->take_frames());
    // Credit comes only to a reader. A peer that gives none for so long means to give none.
    constexpr std::chrono::milliseconds credit_patience{100};
    while (sent && !ended_ && voice_->waits_for_credit() &&
           wait_for(POLLIN, std::chrono::steady_clock::now() + credit_patience)) {
        take_some();
    }
    return sent;
}

bool http_client::send_bytes(std::string_view data)
{
    while (!data.empty()) {
        pollfd ready{socket_, POLLOUT, 0};
        if (::poll(&ready, 1, static_cast<int>(timeout_.count())) <= 0) {
            fail("the peer takes no more within the timeout");
        }
        const auto sent = send_now(data);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            return false;
        }
        data.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    return true;
}

void http_client::send(std::string_view data)
{
    if (!try_send(data)) {
        fail_with_errno("send");
    }
}

// False: nothing came within the timeout. True: bytes were added, or ended_ is set.
bool http_client::fill(std::chrono::milliseconds timeout)
{
    ended_ = ended_ || (voice_ != nullptr && voice_->ended());  // what came with the end is read before it
    if (ended_) {
        return true;
    }
    const auto by = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        const auto before = buffer_.size();
        if (!take_some()) {
            if (!wait_for(POLLIN, by)) {
                return false;
            }
            continue;
        }
        if (ended_ || buffer_.size() > before) {
            return true;
        }
        if (voice_ != nullptr && voice_->ended()) {
            ended_ = true;
            return true;
        }
    }
}

// False: nothing has come.
bool http_client::take_some()
{
    std::array<char, 64 * 1024> block;
    const auto received = receive_now(block.data(), block.size());
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    if (received <= 0) {
        ended_ = true;
    } else {
        take({block.data(), static_cast<std::size_t>(received)});
    }
    return true;
}

void http_client::take(std::string_view received)
{
    if (voice_ == nullptr) {
        buffer_ += received;
        return;
    }
    voice_->hear(received, buffer_);
    send_bytes(voice_->take_frames());
}

http_response http_client::read_response(bool to_head)
{
    for (;;) {
        http::response_parser<http::string_body> parser;
        without_limits(parser);
        parser.eager(true);
        parser.skip(to_head);
        for (;;) {
            buffer_.erase(0, feed(parser, buffer_));
            if (parser.is_done()) {
                break;
            }
            if (!ended_ && !fill(timeout_)) {
                fail("no whole response within the timeout");
            }
            if (ended_) {
                if (!parser.got_some()) {
                    fail("closed without a byte of a response");
                }
                boost::system::error_code failed;
                parser.put_eof(failed);
                if (failed) {
                    fail("closed before the end of the response");
                }
                break;
            }
        }
        auto response = to_response(parser);
        if (response.status >= 200) {
            response.body = std::move(parser.get().body());
            return response;
        }
    }
}

http_response http_client::read_head()
{
    http::response_parser<http::empty_body> parser;
    without_limits(parser);
    while (!parser.is_header_done()) {
        buffer_.erase(0, feed(parser, buffer_));
        if (!parser.is_header_done() && (!fill(timeout_) || ended_)) {
            fail("no whole head");
        }
    }
    return to_response(parser);
}

std::string http_client::read_some()
{
    if (buffer_.empty() && !fill(timeout_)) {
        fail("nothing within the timeout");
    }
    return std::exchange(buffer_, {});
}

std::string http_client::read_until(std::string_view text)
{
    for (;;) {
        if (const auto found = buffer_.find(text); found != std::string::npos) {
            auto taken = buffer_.substr(0, found + text.size());
            buffer_.erase(0, taken.size());
            return taken;
        }
        if (ended_ || !fill(timeout_)) {
            fail("not found: " + std::string{text} + " in: " + buffer_);
        }
    }
}

std::string http_client::read_until_closed()
{
    while (!ended_) {
        if (!fill(timeout_)) {
            fail("the peer does not close");
        }
    }
    return std::exchange(buffer_, {});
}

bool http_client::closed_by_peer(std::chrono::milliseconds timeout)
{
    return buffer_.empty() && fill(timeout) && ended_ && buffer_.empty();
}

void http_client::half_close()
{
    if (tls_ != nullptr) {
        SSL_shutdown(tls_.get());
    }
    ::shutdown(socket_, SHUT_WR);
}

void http_client::reset()
{
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void http_client::close()
{
    if (socket_ >= 0) {
        ::close(std::exchange(socket_, -1));
    }
    ended_ = true;
}

std::uint16_t http_client::local_port() const
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        fail_with_errno("getsockname");
    }
    return ntohs(address.sin_port);
}

std::string
request_text(std::string_view method, std::string_view target, const field_list& headers, std::string_view body)
{
    std::string text{method};
    text.append(" ").append(target).append(" HTTP/1.1\r\n");
    if (count_values(headers, "Host") == 0) {
        text.append("Host: 127.0.0.1\r\n");
    }
    for (const auto& [name, value] : headers) {
        text.append(name).append(": ").append(value).append("\r\n");
    }
    const bool framed = count_values(headers, "Content-Length") + count_values(headers, "Transfer-Encoding") > 0;
    if (!framed && (!body.empty() || method == "POST")) {
        text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    }
    return text.append("\r\n").append(body);
}

http_response request(
    std::uint16_t port,
    std::string_view method,
    std::string_view target,
    const field_list& headers,
    std::string_view body
)
{
    http_client client{port};
    client.send(request_text(method, target, headers, body));
    return client.read_response(method == "HEAD");
}

}  // namespace test_support
