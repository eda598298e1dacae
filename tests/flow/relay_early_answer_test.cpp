#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <future>
#include <thread>
#include <utility>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;

TEST_SUITE_BEGIN("flow/relay");

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Answers each connection as soon as it has a head, reads nothing more, and keeps the connections open.
class hasty_agent {
public:
    // The answer goes out in writes of `piece` bytes.
    explicit hasty_agent(
        std::string answer,
        const test_support::certificate& shown = {},
        std::size_t piece = std::string::npos
    )
        : answer_{std::move(answer)},
          piece_{piece}
    {
        if (!shown.cert_file.empty()) {
            tls_.emplace(asio::ssl::context::tls_server);
            tls_->use_certificate_chain_file(shown.cert_file);
            tls_->use_private_key_file(shown.key_file, asio::ssl::context::pem);
        }
        thread_ = std::thread{[this] { serve(); }};
    }

    ~hasty_agent()
    {
        ending_ = true;
        boost::system::error_code ignored;  // a connection that only ends the waiting
        tcp::socket{io_}.connect(acceptor_.local_endpoint(), ignored);
        thread_.join();
    }
    hasty_agent(const hasty_agent&) = delete;
    hasty_agent& operator=(const hasty_agent&) = delete;

    std::string url() const
    {
        return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(acceptor_.local_endpoint().port());
    }
    std::size_t answered() const noexcept { return answered_; }

private:
    void serve()
    {
        std::vector<tcp::socket> open;
        for (;;) {
            auto& socket = open.emplace_back(acceptor_.accept());
            if (ending_) {
                return;
            }
            socket.set_option(tcp::no_delay{true});
            boost::system::error_code failed;
            if (tls_) {
                asio::ssl::stream<tcp::socket&> stream{socket, *tls_};
                stream.handshake(asio::ssl::stream_base::server, failed);
                answer(stream, failed);
            } else {
                answer(socket, failed);
            }
        }
    }

    template <class Stream>
    void answer(Stream& stream, boost::system::error_code failed)
    {
        std::string head;
        if (!failed) {
            asio::read_until(stream, asio::dynamic_buffer(head), "\r\n\r\n", failed);
        }
        answered_ += failed ? 0 : 1;  // before anybody can have the answer
        for (std::size_t at = 0; at < answer_.size() && !failed; at += std::min(piece_, answer_.size() - at)) {
            asio::write(stream, asio::buffer(answer_.substr(at, piece_)), failed);
        }
    }

    std::string answer_;
    std::size_t piece_;
    std::optional<asio::ssl::context> tls_;
    asio::io_context io_;
    tcp::acceptor acceptor_{io_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    std::atomic<bool> ending_ = false;
    std::atomic<std::size_t> answered_ = 0;
    std::thread thread_;
};

config::settings large_calls_to(std::string url)
{
    auto settings = flow::quick_settings();
    settings.limits.body = 32 * 1024 * 1024;
    settings.agents.push_back(flow::a2a_agent("a", std::move(url)));
    return settings;
}

const std::string& large_call()
{
    static const auto body = call_body('"' + std::string(16 * 1024 * 1024, 'b') + '"');  // more than sockets buffer
    return body;
}

}  // namespace

TEST_CASE("an answer that comes before the whole call was sent is passed, and its connection not used again")
{
    test_support::test_ca ca;
    for (const bool tls : {false, true}) {
        CAPTURE(tls);
        const hasty_agent agent{
            "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much",
            tls ? ca.issue({"127.0.0.1"}) : test_support::certificate{}
        };
        auto settings = large_calls_to(agent.url());
        settings.agents[0].ca_file = tls ? ca.ca_file() : "";
        const flow::running_gateway gateway{std::move(settings)};
        test_support::http_client caller{gateway.port()};
        for (std::size_t i = 1; i <= 3; ++i) {
            caller.send(call_text(large_call()));
            const auto got = caller.read_response();
            CHECK(got.status == 413);
            CHECK(got.body == "too much");
            CHECK(agent.answered() == i);  // a connection each
        }
        CHECK(gateway.metric("cardea_upstream_connections_idle") == 0);
    }
}

TEST_CASE(
    "an answer to an upload of which half is there reaches its caller, who sends on, and nobody else uses the "
    "connection"
)
{
    // Once so little that all of it has gone out when the answer comes, and once more than sockets take.
    for (const auto& [chunked, size] : {
             std::pair{false, std::size_t{100'000}},
             {true, 100'000},
             {false, 1'000'000},
             {true, 1'000'000},
         }) {
        CAPTURE(chunked);
        CAPTURE(size);
        const hasty_agent agent{"HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much"};
        auto settings = large_calls_to(agent.url());
        settings.agents[0].relay_paths = {"/up"};
        settings.limits.stream_body = 64 * 1024 * 1024;
        settings.timeouts.upstream_head = 2s;
        const flow::running_gateway gateway{std::move(settings)};
        for (std::size_t i = 1; i <= 3; ++i) {
            test_support::http_client caller{gateway.port()};
            const std::string half(size, 'u');
            std::array<char, 16> hexadecimal{};
            std::to_chars(hexadecimal.begin(), hexadecimal.end(), 2 * size, 16);
            const std::string length =
                chunked ? "Transfer-Encoding: chunked\r\n\r\n" + std::string{hexadecimal.data()} + "\r\n"
                        : "Content-Length: " + std::to_string(2 * size) + "\r\n\r\n";
            caller.send("PUT /agents/a/up HTTP/1.1\r\nHost: localhost\r\n" + length + half);
            const auto got = caller.read_response();
            CHECK(got.status == 413);
            CHECK(got.body == "too much");
            CHECK(got.header("Connection") == "close");
            caller.send(half);
            CHECK(caller.closed_by_peer());
            CHECK(agent.answered() == i);  // a connection each
        }
        CHECK(gateway.metric("cardea_upstream_connections_idle") == 0);
    }
}

TEST_CASE("an early answer whose rest comes later is passed whole")
{
    const hasty_agent agent{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"};
    const flow::running_gateway gateway{large_calls_to(agent.url())};
    const auto got = flow::call(gateway.port(), large_call());
    CHECK(got.status == 200);
    CHECK(got.body == "abcde");
}

TEST_CASE("an early answer whose head comes byte by byte is passed")
{
    const hasty_agent agent{
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much",
        {},
        1
    };
    const flow::running_gateway gateway{large_calls_to(agent.url())};
    const auto got = flow::call(gateway.port(), large_call());
    CHECK(got.status == 413);
    CHECK(got.body == "too much");
}

TEST_CASE("an agent that takes no more of a call and says nothing is late")
{
    const hasty_agent agent{""};
    auto settings = large_calls_to(agent.url());
    settings.timeouts.upstream_head = 200ms;
    const flow::running_gateway gateway{std::move(settings)};
    flow::check_jsonrpc_error(
        flow::call(gateway.port(), call_body("3") + std::string(16 * 1024 * 1024, ' ')),
        flow::late,
        "3"
    );
}

TEST_CASE("a caller that leaves while its call is being sent ends the sending")
{
    const hasty_agent agent{""};
    auto settings = large_calls_to(agent.url());
    settings.timeouts.upstream_head = 1h;
    const flow::running_gateway gateway{std::move(settings)};
    test_support::http_client caller{gateway.port()};
    caller.send(call_text(large_call()));
    caller.reset();
    CHECK(gateway.wait_for_metric("cardea_connections_open", 0));
    CHECK(gateway.wait_for_metric(R"(cardea_http_requests_total{route="call",method="POST",code="499"})", 1));
}

TEST_SUITE_END();
