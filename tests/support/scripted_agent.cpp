#include "tests/support/scripted_agent.hpp"

#include "tests/support/agent_ledger.hpp"
#include "tests/support/conversation.hpp"
#include "tests/support/http2_front.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <list>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace test_support {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

std::string as_chunk(std::string_view data)
{
    std::ostringstream chunk;
    chunk << std::hex << data.size() << "\r\n" << data << "\r\n";
    return chunk.str();
}

serialised serialise(const message& what, bool to_head)
{
    http::response<http::string_body> response;
    response.version(11);
    response.result(what.status);
    for (const auto& [name, value] : what.headers) {
        if (!boost::beast::iequals(name, "Transfer-Encoding")) {
            response.insert(name, value);
        }
    }
    response.body() = what.body;
    if (count_values(what.headers, "Transfer-Encoding") > 0) {
        response.chunked(true);
    } else if (what.status >= 200 && what.status != 204 && what.status != 304) {
        response.content_length(what.body.size());
    }
    std::ostringstream text;
    if (to_head) {
        text << response.base();
    } else {
        text << response;
    }
    return {text.str(), response.keep_alive() || what.status < 200};
}

recorded_request to_record(const http::request<http::string_body>& request)
{
    recorded_request record;
    record.method = std::string{request.method_string()};
    record.target = std::string{request.target()};
    for (const auto& field : request) {
        record.headers.emplace_back(std::string{field.name_string()}, std::string{field.value()});
    }
    record.body = request.body();
    return record;
}

namespace {

// The connection preface is the one request with this method.
asio::awaitable<bool> begins_http2(tcp::socket& socket)
{
    error_code failed;
    co_await socket.async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, failed));
    std::array<char, 4> first{};
    const auto size = socket.receive(asio::buffer(first), tcp::socket::message_peek, failed);
    co_return std::string_view{first.data(), size} == "PRI ";
}

void rethrow(std::exception_ptr bug)
{
    if (bug) {
        std::rethrow_exception(bug);  // out of the agent's thread: the test program ends loudly
    }
}

const auto loopback = asio::ip::address_v4::loopback();

}  // namespace

class scripted_agent::server {
public:
    explicit server(agent_options options);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    bool tls() const noexcept { return tls_.has_value(); }

    // Applied to every open stream, in the agent's thread.
    template <class Change>
    void to_streams(Change change)
    {
        asio::post(io_, [this, change = std::move(change)] {
            for (auto* const box : ledger.outboxes) {
                change(*box);
                rouse(box->wake);
            }
        });
    }

    agent_ledger ledger;
    std::uint16_t port = 0;

private:
    asio::awaitable<void> accept_connections(tcp::acceptor acceptor);
    asio::awaitable<void> serve(tcp::socket socket);
    template <class Stream>
    asio::awaitable<void> converse(Stream& stream, std::size_t number);

    const on_accept accepts_;
    std::optional<asio::ssl::context> tls_;
    asio::io_context io_{1};  // after all that its coroutines refer to: it is destroyed first
    std::thread thread_;
    std::size_t connections_ = 0;
    std::optional<http2_front> front_;
};

scripted_agent::server::server(agent_options options)
    : accepts_{options.accepts}
{
    if (!options.cert_file.empty()) {
        tls_.emplace(asio::ssl::context::tls_server);
        auto* const context = tls_->native_handle();
        ::SSL_CTX_set_security_level(context, 0);  // shows what nobody should accept
        ::SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
        ::SSL_CTX_set_max_proto_version(context, options.newest_tls);
        ::SSL_CTX_set_cipher_list(context, options.ciphers.empty() ? "DEFAULT:@SECLEVEL=0" : options.ciphers.c_str());
        if (!options.callers_ca_file.empty()) {
            tls_->load_verify_file(options.callers_ca_file);
            tls_->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
        }
        tls_->use_certificate_chain_file(options.cert_file);
        tls_->use_private_key_file(options.key_file, asio::ssl::context::pem);
    }
    tcp::acceptor acceptor{io_, {asio::ip::make_address(options.address), options.port}};
    port = acceptor.local_endpoint().port();
    if (!tls_ && accepts_ == on_accept::serve && options.port == 0 && agents_speak_http2()) {
        front_.emplace(port);
    }
    asio::co_spawn(io_, accept_connections(std::move(acceptor)), rethrow);
    thread_ = std::thread{[this] { io_.run(); }};
}

scripted_agent::server::~server()
{
    io_.stop();
    thread_.join();
}

asio::awaitable<void> scripted_agent::server::accept_connections(tcp::acceptor acceptor)
{
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(io_, serve(std::move(socket)), rethrow);
    }
}

asio::awaitable<void> scripted_agent::server::serve(tcp::socket socket)
{
    error_code failed;  // of a peer that has left already: reading will tell
    if (front_ && co_await begins_http2(socket)) {
        front_->take(socket.release());
        co_return;
    }
    const open_connection counted{ledger};
    const auto number = ++connections_;
    socket.set_option(tcp::no_delay{true}, failed);
    if (!tls_ || accepts_ != on_accept::serve) {
        co_await converse(socket, number);
        co_return;
    }
    tls_stream stream{std::move(socket), *tls_};
    co_await stream.async_handshake(asio::ssl::stream_base::server, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {
        ledger.update([this] { ++ledger.closed_by_peer; });
        co_return;
    }
    co_await converse(stream, number);
}

template <class Stream>
asio::awaitable<void> scripted_agent::server::converse(Stream& stream, std::size_t number)
{
    conversation<Stream> talk{ledger, stream, number};
    switch (accepts_) {
        case on_accept::serve:
            co_await talk.run();
            break;
        case on_accept::silence:
            co_await talk.take(hold{});
            break;
        case on_accept::close:
            co_await talk.take(close_now{});
            break;
        case on_accept::reset:
            co_await talk.take(reset_now{});
            break;
    }
}

scripted_agent::scripted_agent(agent_options options)
    : scripted_agent{[](const recorded_request&) { return answer(404, ""); }, std::move(options)}
{
}

scripted_agent::scripted_agent(handler by_default, agent_options options)
    : server_{std::make_unique<server>(std::move(options))}
{
    otherwise(std::move(by_default));
}

scripted_agent::~scripted_agent() = default;

std::uint16_t scripted_agent::port() const noexcept
{
    return server_->port;
}

std::string scripted_agent::url(std::string_view path) const
{
    std::string made{server_->tls() ? "https" : "http"};
    return made.append("://127.0.0.1:").append(std::to_string(port())).append(path);
}

void scripted_agent::next(script what)
{
    server_->ledger.update([&] { server_->ledger.queued.push_back(std::move(what)); });
}

void scripted_agent::otherwise(handler by_default)
{
    server_->ledger.update([&] { server_->ledger.fallback = std::move(by_default); });
}

std::vector<recorded_request> scripted_agent::requests() const
{
    const std::lock_guard guard{server_->ledger.mutex};
    return server_->ledger.requests;
}

recorded_request scripted_agent::request(std::size_t index) const
{
    return requests().at(index);
}

std::size_t scripted_agent::request_count() const
{
    return requests().size();
}

bool scripted_agent::wait_for_requests(std::size_t count, std::chrono::milliseconds timeout)
{
    return server_->ledger.wait(timeout, [&] { return server_->ledger.requests.size() >= count; });
}

bool scripted_agent::wait_for(
    const std::function<bool(const std::vector<recorded_request>&)>& predicate,
    std::chrono::milliseconds timeout
)
{
    return server_->ledger.wait(timeout, [&] { return predicate(server_->ledger.requests); });
}

std::size_t scripted_agent::accepted_connections() const
{
    return server_->ledger.value(&agent_ledger::accepted);
}

std::size_t scripted_agent::open_connections() const
{
    return server_->ledger.value(&agent_ledger::open);
}

std::size_t scripted_agent::most_open_connections() const
{
    return server_->ledger.value(&agent_ledger::most_open);
}

bool scripted_agent::wait_for_connections(std::size_t accepted, std::chrono::milliseconds timeout)
{
    return server_->ledger.wait(timeout, [&] { return server_->ledger.accepted >= accepted; });
}

bool scripted_agent::wait_for_open_connections(std::size_t exactly, std::chrono::milliseconds timeout)
{
    return server_->ledger.wait(timeout, [&] { return server_->ledger.open == exactly; });
}

bool scripted_agent::wait_for_streams(std::size_t open, std::chrono::milliseconds timeout)
{
    return server_->ledger.wait(timeout, [&] { return server_->ledger.streams >= open; });
}

void scripted_agent::send_event(std::string_view data)
{
    send_stream("data: " + std::string{data} + "\n\n");
}

void scripted_agent::send_stream(std::string_view data)
{
    server_->to_streams([text = std::string{data}](outbox& box) { box.data.push_back(text); });
}

void scripted_agent::end_streams()
{
    server_->to_streams([](outbox& box) { box.ends = true; });
}

void scripted_agent::cut_streams()
{
    server_->to_streams([](outbox& box) { box.cut = true; });
}

bool scripted_agent::wait_until_peer_closed(std::chrono::milliseconds timeout, std::size_t connections)
{
    return server_->ledger.wait(timeout, [&] { return server_->ledger.closed_by_peer >= connections; });
}

std::size_t scripted_agent::closed_by_peer() const
{
    return server_->ledger.value(&agent_ledger::closed_by_peer);
}

// Bound for the life of the process and not listened on: nobody else gets it, and whoever connects is refused.
std::uint16_t unused_port()
{
    static asio::io_context io;
    static std::list<tcp::socket> held;
    auto& one = held.emplace_back(io, tcp::v4());
    one.bind({loopback, 0});
    return one.local_endpoint().port();
}

}  // namespace test_support
