#include "net/server_connection.hpp"

#include <boost/asio/post.hpp>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("net/server_connection");

using namespace std::chrono_literals;

namespace {

// Reads the body of each request and writes down how that ended.
class body_reader final : public net::http_handler {
public:
    net::routine<> handle(net::server_connection& caller) override
    {
        auto body = co_await caller.read_body(1000);
        failure = body ? std::nullopt : std::optional{body.error()};
        caller.cut();
    }
    net::routine<> refuse(net::server_connection& caller, core::error why) override
    {
        failure = std::move(why);
        caller.cut();
        co_return;
    }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void shaken(net::handshake, std::string_view, std::string_view) noexcept override {}

    std::optional<core::error> failure;
};

}  // namespace

TEST_CASE("a caller that does not take 100 Continue is cut when the time for writing is up")
{
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    const net::descriptor peer{ends[0]};
    const std::string unread(64 * 1024, 'x');
    while (::send(ends[1], unread.data(), unread.size(), 0) > 0) {
    }
    while (::send(ends[1], unread.data(), 1, 0) > 0) {
    }
    constexpr std::string_view text = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    REQUIRE(::send(peer.number(), text.data(), text.size(), 0) == static_cast<::ssize_t>(text.size()));

    net::loop loop;
    body_reader handler;
    net::server_settings settings;
    settings.header_timeout = 1h;
    settings.body_timeout = 3s;
    settings.write_timeout = 100ms;
    std::optional<net::server_connection> caller;
    bool late = false;
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        patience{loop.get_executor(), 10s};
    net::asio::post(loop.get_executor(), [&] {
        caller.emplace(loop, net::accepted_socket{net::descriptor{ends[1]}, {}}, handler, settings);
        net::start(caller->run(), [&](const std::exception_ptr& bug) {
            CHECK_FALSE(bug);
            caller.reset();
            patience.cancel();
            loop.stop();
        });
    });
    patience.async_wait([&](net::error_code cancelled) {
        if (!cancelled) {
            late = true;
            caller->abort();
        }
    });
    loop.run();
    CHECK_FALSE(late);
    REQUIRE(handler.failure.has_value());
    CHECK(handler.failure->code == core::errc::caller_gone);
}

TEST_SUITE_END();
