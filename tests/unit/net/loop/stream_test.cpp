#include "net/loop/stream.hpp"

#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/tls/tls_context.hpp"
#include "tests/support/test_ca.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <doctest/doctest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("net/loop/stream");

namespace {

// A stream on one end of a pair of connected sockets; the test holds the other end.
struct rig {
    rig()
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
        peer = core::descriptor{ends[0]};
        side.emplace(loop, core::descriptor{ends[1]});
        side->set_listener(&changed);
    }

    void run(net::routine<> work)
    {
        std::exception_ptr failure;
        net::asio::post(loop.get_executor(), [&] {
            net::start(std::move(work), [&](std::exception_ptr e) {
                failure = std::move(e);
                side.reset();
                loop.stop();
            });
        });
        loop.run();
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

    void say(std::string_view text) const
    {
        REQUIRE(::send(peer.number(), text.data(), text.size(), 0) == static_cast<::ssize_t>(text.size()));
    }

    net::loop loop;
    net::signal changed;
    core::descriptor peer;
    std::optional<net::stream> side;
};

net::routine<> read_to_the_end(rig& r, std::string& got)
{
    while (!r.side->ended()) {
        r.side->arm();
        co_await r.changed.wait();
        got += r.side->received();
        r.side->consume(r.side->received().size());
    }
}

// A caller's end of TLS, in memory.
struct tls_caller {
    tls_caller()
        : context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free},
          tls{SSL_new(context.get()), SSL_free},
          in{BIO_new(BIO_s_mem())},
          out{BIO_new(BIO_s_mem())}
    {
        SSL_set_bio(tls.get(), in, out);
        SSL_set_connect_state(tls.get());
    }

    std::string to_send() const
    {
        std::string bytes(BIO_ctrl_pending(out), '\0');
        BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
        return bytes;
    }

    std::shared_ptr<SSL_CTX> context;
    std::unique_ptr<SSL, decltype(&SSL_free)> tls;
    BIO* in;
    BIO* out;
};

using timer = net::asio::
    basic_waitable_timer<std::chrono::steady_clock, net::asio::wait_traits<std::chrono::steady_clock>, net::executor>;

// The caller sends its first words in one piece with the last message of the handshake.
net::routine<> speak_at_once(rig& r, SSL_CTX& context, std::string_view words, std::string& got)
{
    REQUIRE_FALSE(r.side->start_tls(context, net::tls_role::server));
    net::stream wire{r.loop, std::move(r.peer)};
    wire.set_listener(&r.changed);
    const tls_caller caller;
    while (SSL_do_handshake(caller.tls.get()) != 1) {
        const auto bytes = caller.to_send();
        net::pieces what;
        what.add(bytes);
        wire.write(what);
        while (wire.received().empty()) {
            wire.arm();
            co_await r.changed.wait();
        }
        BIO_write(caller.in, wire.received().data(), static_cast<int>(wire.received().size()));
        wire.consume(wire.received().size());
    }
    CHECK(r.side->opening());
    CHECK(SSL_write(caller.tls.get(), words.data(), static_cast<int>(words.size())) == static_cast<int>(words.size()));
    const auto last = caller.to_send();
    net::pieces what;
    what.add(last);
    wire.write(what);
    while (r.side->opening()) {
        co_await r.changed.wait();
    }
    timer too_long{r.loop.get_executor(), std::chrono::seconds{10}};  // nothing else wakes a stream that has lost words
    too_long.async_wait([&](net::error_code cancelled) {
        if (!cancelled) {
            r.side->close(/*hard=*/true);
        }
    });
    while (got.size() < words.size() && !r.side->ended() && !r.side->closed()) {
        r.side->arm();
        co_await r.changed.wait();
        got += r.side->received();
        r.side->consume(r.side->received().size());
    }
}

net::routine<> write_all(rig& r, std::string text, std::string& heard)
{
    net::pieces what;
    what.add(std::string_view{text}.substr(0, 10));
    what.add(std::string_view{text}.substr(10));
    r.side->write(what);
    CHECK(r.side->writing());
    net::stream reader{r.loop, std::move(r.peer)};
    reader.set_listener(&r.changed);
    while (heard.size() < text.size() && !reader.ended()) {
        reader.arm();
        co_await r.changed.wait();
        heard += reader.received();
        reader.consume(reader.received().size());
    }
    CHECK_FALSE(r.side->writing());
    CHECK_FALSE(r.side->write_error());
    CHECK(r.side->bytes_out() == text.size());
}

net::routine<> fill_up(rig& r)
{
    r.say(std::string(2 * net::small_block, 'x'));
    r.side->arm();
    co_await r.changed.wait();
    CHECK(r.side->full());
    CHECK(r.side->received().size() == net::small_block);
    r.side->arm();
    r.side->grow();
    r.side->arm();
    co_await r.changed.wait();
    CHECK(r.side->received() == std::string(2 * net::small_block, 'x'));
}

net::routine<> leave_spare_room(rig& r)
{
    constexpr std::size_t large = 1 << 20;
    r.say("body, next");
    r.side->arm();
    co_await r.changed.wait();
    r.side->reserve(large);
    r.side->consume(6);
    r.side->arm();
    CHECK(r.side->capacity() == large);
    r.side->release_spare_room();
    CHECK(r.side->capacity() == net::small_block);
    CHECK(r.side->received() == "next");
    r.side->arm();
    r.say(", and more");
    co_await r.changed.wait();
    CHECK(r.side->received() == "next, and more");
    // It moves at no other time: what looks at received() would look at nothing.
    r.side->reserve(large);
    const auto view = r.side->received();
    r.side->arm();
    CHECK(r.side->capacity() == large);
    CHECK(r.side->received().data() == view.data());
}

net::routine<> lose_the_peer(rig& r)
{
    r.say(std::string(net::small_block, 'x'));
    r.side->arm();
    co_await r.changed.wait();
    CHECK(r.side->full());
    r.side->arm();
    r.peer.reset();
    co_await r.changed.wait();
    CHECK(r.side->ended());
    CHECK(r.side->received().size() == net::small_block);
}

net::routine<> write_to_nobody(rig& r)
{
    r.peer.reset();
    net::pieces what;
    what.add("anything");
    r.side->write(what);
    CHECK_FALSE(r.side->writing());
    CHECK(r.side->write_error() == boost::asio::error::broken_pipe);
    co_return;
}

net::routine<> close_while_waiting(rig& r)
{
    const std::string much(8 << 20, 'x');
    net::pieces what;
    what.add(much);
    r.side->write(what);
    CHECK(r.side->writing());
    r.side->arm();
    r.side->close();
    co_await r.changed.wait();
    CHECK(r.side->closed());
    CHECK_FALSE(r.side->writing());
    CHECK(r.side->write_error() == boost::asio::error::operation_aborted);
}

net::routine<> hold_no_buffer(rig& r)
{
    r.side->arm();
    CHECK(r.side->capacity() == 0);
    r.say("a");
    co_await r.changed.wait();
    CHECK(r.side->capacity() == net::small_block);
    r.side->consume(1);
    r.side->arm();
    CHECK(r.side->capacity() == 0);
}

net::routine<> destroy_when_woken(rig& r)
{
    r.say("a");
    r.side->arm();
    co_await r.changed.wait();
    r.side.reset();
}

// Counts how often it was told.
struct counting final : net::watched {
    void on_ready(std::uint32_t) override { ++told; }
    int told = 0;
};

net::routine<> wake_two(rig& r, counting& kept, std::unique_ptr<counting> dropped)
{
    r.loop.ready().wake(kept);
    r.loop.ready().wake(*dropped);
    r.loop.ready().wake(kept);
    CHECK(kept.told == 0);
    dropped.reset();
    r.say("a");
    r.side->arm();
    co_await r.changed.wait();
}

}  // namespace

TEST_CASE("what a peer said before it closed is received, and then its end")
{
    rig r;
    r.say("the last words");
    r.peer.reset();
    std::string got;
    r.run(read_to_the_end(r, got));
    CHECK(got == "the last words");
}

TEST_CASE("a peer that closes its half after its words is read to the end")
{
    rig r;
    r.say(std::string(100'000, 'w'));
    REQUIRE(::shutdown(r.peer.number(), SHUT_WR) == 0);
    std::string got;
    r.run(read_to_the_end(r, got));
    CHECK(got == std::string(100'000, 'w'));
}

TEST_CASE("what the socket does not take at once goes out as the peer reads")
{
    rig r;
    std::string text;
    for (int i = 0; text.size() < (4U << 20); ++i) {
        text += std::to_string(i);
    }
    std::string heard;
    r.run(write_all(r, text, heard));
    CHECK(heard == text);
}

TEST_CASE("a full buffer takes nothing until there is room, and then what has come meanwhile")
{
    rig r;
    r.run(fill_up(r));
}

TEST_CASE("A buffer that was large for what has been consumed becomes small, and keeps what is left")
{
    rig r;
    r.run(leave_spare_room(r));
}

TEST_CASE("a peer that is gone is noticed even where there is no room to read")
{
    rig r;
    r.run(lose_the_peer(r));
}

TEST_CASE("a write to a peer that is gone fails at once and without a signal")
{
    rig r;
    r.run(write_to_nobody(r));
}

TEST_CASE("whoever waits for a stream that is closed is woken, and its write has failed")
{
    rig r;
    r.run(close_while_waiting(r));
}

TEST_CASE("a stream that waits for bytes holds no buffer")
{
    rig r;
    r.run(hold_no_buffer(r));
}

TEST_CASE("Words that come together with the last message of a handshake are received")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"a.test"});
    const auto context = net::make_server_tls(
        {{shown.cert_file, shown.key_file, {}}},
        std::make_shared<net::ticket_keys>(core::steady_time{})
    );
    REQUIRE(context.has_value());
    for (const std::size_t size : {5U, 5'000U, 40'000U}) {  // less than a buffer, more than one, more than a record
        CAPTURE(size);
        rig r;
        const std::string words(size, 'x');
        std::string got;
        r.run(speak_at_once(r, **context, words, got));
        CHECK(got == words);
    }
}

TEST_CASE("a stream may be destroyed by whom it wakes")
{
    rig r;
    r.run(destroy_when_woken(r));
    CHECK_FALSE(r.side.has_value());
}

TEST_CASE("what is woken is told once, and what is destroyed before is not")
{
    rig r;
    counting kept;
    r.run(wake_two(r, kept, std::make_unique<counting>()));
    CHECK(kept.told == 1);
}

TEST_SUITE_END();
