#include "net/server/server_connection.hpp"

#include <boost/asio/post.hpp>

#include <doctest/doctest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("net/server/server_connection");

using namespace std::chrono_literals;

namespace {

// Reads the body of each request and writes down how that ended.
class body_reader final : public net::http_handler {
public:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        auto body = co_await caller.read_body(1000);
        failure = body ? std::nullopt : std::optional{body.error()};
        caller.cut();
    }
    net::routine<> refuse(net::caller_exchange& caller, core::error why) override
    {
        failure = std::move(why);
        caller.cut();
        co_return;
    }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}

    std::optional<core::error> failure;
};

// Answers every request before its body has come.
class hasty_handler final : public net::http_handler {
public:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        constexpr std::string_view text = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        const net::answer_part what{.head = text, .last = true};
        co_await caller.send(what);
    }
    net::routine<> refuse(net::caller_exchange& caller, core::error) override { co_await handle(caller); }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}
};

// Reads the body of each request, waits for its caller to leave as a relay does, and looks at the head then.
class watchful_handler final : public net::http_handler {
public:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        const auto body = co_await caller.read_body(1'000'000);
        CHECK(body.has_value());
        const auto before = caller.head().target;
        caller.watch_caller();
        CHECK(caller.head().target.data() == before.data());
        targets.emplace_back(before);
        constexpr std::string_view text = "HTTP/1.1 204 No Content\r\n\r\n";
        const net::answer_part what{.head = text, .last = true};
        co_await caller.send(what);
    }
    net::routine<> refuse(net::caller_exchange&, core::error why) override
    {
        FAIL(why.detail);
        co_return;
    }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}

    std::vector<std::string> targets;
};

net::server_settings lingering_settings()
{
    net::server_settings settings;
    settings.header_timeout = 1h;
    settings.write_timeout = 1h;
    settings.linger = 1h;
    settings.linger_pause = 1h;
    settings.linger_bytes = 100'000;
    return settings;
}

// A caller and the gateway's end of its connection, which ends when it will.
class refused_caller {
public:
    refused_caller(net::loop& loop, net::http_handler& handler, const net::server_settings& settings)
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
        socket_ = core::descriptor{ends[0]};
        spaces_.emplace(settings.head);
        connection_.emplace(loop, net::accepted_socket{core::descriptor{ends[1]}, {}}, handler, settings, *spaces_);
        net::start(connection_->run(), [this](const std::exception_ptr& bug) {
            CHECK_FALSE(bug);
            ended_ = true;
        });
    }

    // Gives how much of it the gateway's end has room for.
    std::size_t send(std::string_view text)
    {
        const auto sent = ::send(socket_.number(), text.data(), text.size(), MSG_NOSIGNAL);
        return sent < 0 ? 0 : static_cast<std::size_t>(sent);
    }
    void send_upload() { send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n"); }
    // Nothing that was sent has not been read.
    bool was_heard() const
    {
        int unread = 0;
        return ::ioctl(socket_.number(), SIOCOUTQ, &unread) == 0 && unread == 0;
    }
    bool ended() const noexcept { return ended_; }
    void abort() { connection_->abort(); }

private:
    core::descriptor socket_;
    std::optional<net::request_buffer_pool> spaces_;
    std::optional<net::server_connection> connection_;
    bool ended_ = false;
};

template <class Condition>
bool run_until(net::loop& loop, const Condition& holds)
{
    const auto by = std::chrono::steady_clock::now() + 10s;
    while (!holds() && std::chrono::steady_clock::now() < by) {
        loop.io().run_one_for(10ms);
    }
    return holds();
}

struct lingering_rig {
    lingering_rig() { start(); }
    void start()
    {
        loop.timers().start();
        loop.ready().start();
    }

    net::loop loop;
    hasty_handler handler;
};

}  // namespace

TEST_CASE("a caller that does not take 100 Continue is cut when the time for writing is up")
{
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    const core::descriptor peer{ends[0]};
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
    net::request_buffer_pool spaces{settings.head};
    std::optional<net::server_connection> caller;
    bool late = false;
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        patience{loop.get_executor(), 10s};
    net::asio::post(loop.get_executor(), [&] {
        caller.emplace(loop, net::accepted_socket{core::descriptor{ends[1]}, {}}, handler, settings, spaces);
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

TEST_CASE("after an early answer as much is read and dropped as the limit says, and not a byte more")
{
    lingering_rig rig;
    const auto settings = lingering_settings();
    refused_caller caller{rig.loop, rig.handler, settings};
    caller.send_upload();
    REQUIRE(run_until(rig.loop, [&] { return caller.was_heard(); }));
    for (std::size_t left = settings.linger_bytes - 1; left > 0;) {
        left -= caller.send(std::string(std::min<std::size_t>(left, 1000), 'b'));
        REQUIRE(run_until(rig.loop, [&] { return caller.was_heard(); }));
        REQUIRE_FALSE(caller.ended());
    }
    caller.send("b");
    CHECK(run_until(rig.loop, [&] { return caller.ended(); }));
}

TEST_CASE("a refused caller whose request is whole, or that leaves, is let go at once")
{
    lingering_rig rig;
    const auto settings = lingering_settings();
    refused_caller whole{rig.loop, rig.handler, settings};
    whole.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nb");
    REQUIRE(run_until(rig.loop, [&] { return whole.was_heard(); }));
    whole.send("bb");
    CHECK(run_until(rig.loop, [&] { return whole.ended(); }));  // after the second that every last answer has
}

TEST_CASE("a refused caller that pauses for too long, or trickles for too long, is cut")
{
    for (const bool trickles : {false, true}) {
        CAPTURE(trickles);
        lingering_rig rig;
        auto settings = lingering_settings();
        (trickles ? settings.linger : settings.linger_pause) = 300ms;
        settings.linger_bytes = 1U << 30U;  // more than a fast machine can trickle in that time
        refused_caller caller{rig.loop, rig.handler, settings};
        const auto start = std::chrono::steady_clock::now();
        caller.send_upload();
        REQUIRE(run_until(rig.loop, [&] {
            if (trickles) {
                caller.send("b");
            }
            return caller.ended();
        }));
        const auto took = std::chrono::steady_clock::now() - start;
        CHECK(took >= 300ms);
        CHECK(took < 2s);
    }
}

TEST_CASE("as many refused callers are waited for as the limit says, and one more is let go at once")
{
    lingering_rig rig;
    net::shared_budget places{2};
    auto settings = lingering_settings();
    settings.lingering = &places;
    refused_caller first{rig.loop, rig.handler, settings};
    refused_caller second{rig.loop, rig.handler, settings};
    refused_caller third{rig.loop, rig.handler, settings};
    std::uint64_t taken = 0;
    for (auto* const caller : {&first, &second}) {
        caller->send_upload();
        ++taken;
        REQUIRE(run_until(rig.loop, [&] { return places.taken() == taken; }));
    }
    third.send_upload();
    CHECK(run_until(rig.loop, [&] { return third.ended(); }));
    CHECK_FALSE(first.ended());
    CHECK_FALSE(second.ended());
    first.abort();
    CHECK(run_until(rig.loop, [&] { return first.ended(); }));
    CHECK(places.taken() == 1);
    second.abort();
    CHECK(run_until(rig.loop, [&] { return second.ended(); }));
    CHECK(places.taken() == 0);
}

TEST_CASE("the head of a request that came with a large one before it stays where it is until it is answered")
{
    lingering_rig rig;
    watchful_handler handler;
    auto settings = lingering_settings();
    settings.body_timeout = 1h;
    refused_caller caller{rig.loop, handler, settings};
    const std::string body(150'000, 'b');
    const auto text = "POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 150000\r\n\r\n" + body +
                      "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string_view all = text;
    for (std::size_t sent = 0; sent < all.size();) {
        sent += caller.send(all.substr(sent));
        REQUIRE(run_until(rig.loop, [&] { return caller.was_heard(); }));
    }
    REQUIRE(run_until(rig.loop, [&] { return handler.targets.size() == 2; }));
    CHECK(handler.targets == std::vector<std::string>{"/large", "/next"});
    caller.abort();
    CHECK(run_until(rig.loop, [&] { return caller.ended(); }));
}

TEST_SUITE_END();
