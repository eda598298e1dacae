// A caller's connection that speaks HTTP/2, by raw frames over a socket: how its exchanges are served, and how it ends.
#include "net/server/server_connection.hpp"
#include "tests/support/http2_frames.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("net/server/http2_connection");

using namespace std::chrono_literals;

namespace {

namespace raw = test_support::http2;

// Answers by the target: what is asked of the exchange interface, and how it ended.
class target_handler final : public net::http_handler {
public:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        ++begun;
        const std::string target{caller.head().target};
        if (target == "/echo") {
            co_await echo(caller);
        } else if (target == "/pieces") {
            co_await pieces(caller);
        } else if (target == "/large") {
            co_await large(caller);
        } else if (target == "/wait") {
            co_await wait(caller);
        } else if (target == "/cut") {
            co_await cut(caller);
        } else if (target.starts_with("/hold/")) {
            auto& share = shares.emplace_back(std::make_unique<net::budget_share>(caller.bodies()));
            co_await answer(caller, share->set(std::stoull(target.substr(6))) ? 200 : 503, "");
        } else if (target == "/throw") {
            throw std::runtime_error{"a bug"};
        } else {
            co_await answer(caller, 200, target);
        }
        ++ended;
    }
    net::routine<> refuse(net::caller_exchange& caller, core::error why) override
    {
        co_await answer(caller, why.code == core::errc::internal ? 500 : 400, why.detail);
    }
    void failed(std::string_view what) noexcept override { problems.emplace_back(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}
    void on_abuse(std::string_view, net::http2::limit which) noexcept override { abuse = name(which); }

    int begun = 0;
    int ended = 0;
    std::string last_failure;
    std::string abuse;
    std::vector<std::string> problems;
    net::signal release;
    std::vector<std::unique_ptr<net::budget_share>> shares;

private:
    net::routine<> answer(net::caller_exchange& caller, unsigned status, std::string body)
    {
        auto& head = caller.scratch();
        head = "HTTP/1.1 " + std::to_string(status) + " Any\r\nX-Major: " + std::to_string(caller.major_version()) +
               "\r\n";
        caller.complete_head(head, net::answer_length::known(body.size()));
        net::answer_part part{.head = head, .last = true};
        part.body.add(body);
        auto sent = co_await caller.send(part);
        note(sent);
    }
    net::routine<> echo(net::caller_exchange& caller)
    {
        auto body = co_await caller.read_body(200'000);
        if (!body) {
            last_failure = std::to_string(static_cast<int>(body.error().code));
            co_await answer(caller, body.error().code == core::errc::body_too_large ? 413 : 408, "");
            co_return;
        }
        co_await answer(caller, 200, std::string{*body});
    }
    net::routine<> pieces(net::caller_exchange& caller)
    {
        auto& head = caller.scratch();
        head = "HTTP/1.1 200 OK\r\n";
        caller.complete_head(head, net::answer_length::open());
        const auto held = co_await caller.hold_body(0, 1'000'000);
        CHECK(held.has_value());
        net::answer_part first{.head = head};
        co_await caller.send(first);
        for (bool last = false; !last && !caller.caller_left();) {
            auto piece = caller.take_piece(1'000'000);
            if (!piece->data.empty()) {
                net::answer_part part{};
                part.body.add(piece->data);
                co_await caller.send(part);
            }
            last = piece->last;
            if (!last && piece->data.empty()) {
                co_await caller.clock().wait();
            }
        }
        const net::answer_part end{.last = true, .trailers = "x-trailer: yes\r\n"};
        auto sent = co_await caller.send(end);
        note(sent);
    }
    net::routine<> large(net::caller_exchange& caller)
    {
        const std::string body(1'000'000, 'x');
        co_await answer(caller, 200, body);
    }
    net::routine<> wait(net::caller_exchange& caller)
    {
        caller.clock().stop();
        while (!caller.caller_left() && !caller.interrupted()) {
            caller.watch_caller();
            co_await caller.clock().wait();
        }
        last_failure = caller.was_reset() ? "was reset" : "left";
    }
    net::routine<> cut(net::caller_exchange& caller)
    {
        auto& head = caller.scratch();
        head = "HTTP/1.1 200 OK\r\n";
        caller.complete_head(head, net::answer_length::open());
        net::answer_part part{.head = head};
        part.body.add("half");
        co_await caller.send(part);
        caller.cut();
    }
    void note(const core::result<>& sent)
    {
        last_failure = sent ? "" : std::to_string(static_cast<int>(sent.error().code));
    }
};

net::server_settings usual_settings()
{
    net::server_settings settings;
    settings.http2 = true;
    settings.header_timeout = 1h;
    settings.body_timeout = 1h;
    settings.idle_timeout = 1h;
    settings.write_timeout = 1h;
    settings.body_grace = 1h;
    return settings;
}

// A caller with raw frames, the gateway's end of its connection, and the loop that both run on.
struct caller_rig {
    explicit caller_rig(net::server_settings with = usual_settings())
        : settings{with},
          spaces{settings.head}
    {
        settings.streams = &streams;
        settings.http2_counters = &counters;
        std::array<int, 2> pair{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) == 0);
        socket = core::descriptor{pair[0]};
        loop.timers().start();
        loop.ready().start();
        connection.emplace(loop, net::accepted_socket{core::descriptor{pair[1]}, {}}, handler, settings, spaces);
        net::start(connection->run(), [this](const std::exception_ptr& bug) {
            CHECK_FALSE(bug);
            ended = true;
        });
    }
    ~caller_rig()
    {
        socket = {};
        CHECK(until([&] { return ended; }));
    }
    caller_rig(const caller_rig&) = delete;
    caller_rig& operator=(const caller_rig&) = delete;

    void send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const auto sent = ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent > 0) {
                bytes.remove_prefix(static_cast<std::size_t>(sent));
            } else {
                REQUIRE_FALSE(ended);
                loop.io().run_one_for(10ms);
            }
        }
    }

    // Reads what has come.
    void take()
    {
        std::array<char, 65536> buffer{};
        for (ssize_t got = 1; got > 0;) {
            got = ::recv(socket.number(), buffer.data(), buffer.size(), 0);
            received.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
            closed = closed || got == 0;
        }
        for (raw::read_frame each; raw::take_frame(received, each);) {
            if (each.type == raw::headers) {
                for (const auto& [name, value] : blocks.read(each.payload)) {
                    heads[each.stream] += name + ": " + value + "\n";
                }
            } else if (each.type == raw::data) {
                bodies[each.stream] += each.payload;
            } else if (each.type == raw::rst_stream || each.type == raw::goaway) {
                ends += (each.type == raw::goaway ? "goaway " : "reset " + std::to_string(each.stream) + " ") +
                        std::string{net::http2::name(static_cast<net::http2::error_code>(each.code()))} + "\n";
            }
            if ((each.type == raw::data || each.type == raw::headers) && (each.flags & raw::end_stream) != 0) {
                ends += "end " + std::to_string(each.stream) + "\n";
            }
        }
    }

    template <class Condition>
    bool until(const Condition& holds)
    {
        const auto by = std::chrono::steady_clock::now() + 10s;
        for (take(); !holds() && std::chrono::steady_clock::now() < by; take()) {
            loop.io().run_one_for(10ms);
        }
        return holds();
    }
    bool until_ends(const std::string& what)
    {
        return until([&] { return ends.find(what) != std::string::npos; });
    }

    net::loop loop;
    target_handler handler;
    net::server_settings settings;
    std::atomic<std::size_t> streams{0};
    net::http2::counters counters;
    net::request_buffer_pool spaces;
    core::descriptor socket;
    std::optional<net::server_connection> connection;
    bool ended = false;
    std::string received;
    std::map<unsigned, std::string> heads;
    std::map<unsigned, std::string> bodies;
    raw::block_reader blocks;
    std::string ends;
    bool closed = false;
};

std::string opened(unsigned stream, const std::string& target)
{
    return raw::headers_frame(stream, raw::post(target), raw::end_headers);
}

}  // namespace

TEST_CASE("The preface chooses HTTP/2, however it is cut, and other bytes HTTP/1.1")
{
    for (std::size_t cut = 0; cut < raw::preface.size(); ++cut) {
        CAPTURE(cut);
        caller_rig rig;
        rig.send(raw::preface.substr(0, cut));
        rig.loop.io().run_one_for(1ms);
        rig.send(std::string{raw::preface.substr(cut)} + raw::settings_frame() + raw::headers_frame(1, raw::get("/x")));
        REQUIRE(rig.until_ends("end 1"));
        CHECK(rig.heads[1] == ":status: 200\nx-major: 2\ncontent-length: 2\n");
        CHECK(rig.bodies[1] == "/x");
    }
    caller_rig rig;
    rig.send("PRI * HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(rig.until([&] { return rig.received.starts_with("HTTP/1.1 400"); }));
    caller_rig other;
    other.settings.http2 = false;
    other.send(raw::client_start());
    CHECK(other.until([&] { return other.received.starts_with("HTTP/1.1 400"); }));
}

TEST_CASE("A request to upgrade to HTTP/2 is answered over HTTP/1.1")
{
    caller_rig rig;
    rig.send(
        "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
        "AAMAAABkAAQAAP__\r\n\r\n"
    );
    CHECK(rig.until([&] { return rig.received.starts_with("HTTP/1.1 200") && rig.received.ends_with("/x"); }));
}

TEST_CASE("Requests of one connection are served side by side and answered in any order")
{
    caller_rig rig;
    rig.send(raw::client_start() + opened(1, "/echo") + raw::headers_frame(3, raw::get("/three")));
    REQUIRE(rig.until_ends("end 3"));
    CHECK(rig.streams == 1);
    CHECK(rig.counters.streams == 1);
    rig.send(raw::frame(raw::data, raw::end_stream, 1, "body"));
    REQUIRE(rig.until_ends("end 1"));
    CHECK(rig.bodies[1] == "body");
    CHECK(rig.until([&] { return rig.streams == 0; }));
    CHECK(rig.counters.connections == 1);
}

TEST_CASE("The streams of a connection hold half of all bodies between them, or 64 MiB if that is more")
{
    constexpr std::uint64_t least = 64 * 1024 * 1024;
    for (const std::uint64_t most : {least / 2, least * 3 / 2, 4 * least}) {
        CAPTURE(most);
        net::shared_budget whole{most};
        auto settings = usual_settings();
        settings.bodies = &whole;
        caller_rig rig{settings};
        const auto part = std::min(std::max(most / 2, least), most);
        const auto hold = [](unsigned stream, std::uint64_t bytes) {
            return raw::headers_frame(stream, raw::get("/hold/" + std::to_string(bytes)));
        };
        rig.send(raw::client_start() + hold(1, part - 1) + hold(3, 2) + hold(5, 1) + hold(7, 1));
        REQUIRE(rig.until_ends("end 7"));
        for (const auto& [stream, fits] : {std::pair{1U, true}, {3U, false}, {5U, true}, {7U, false}}) {
            CHECK(rig.heads[stream].starts_with(fits ? ":status: 200" : ":status: 503"));
        }
        CHECK(whole.taken() == part);
        {
            caller_rig other{settings};
            other.send(raw::client_start() + hold(1, 1));
            REQUIRE(other.until_ends("end 1"));
            CHECK(other.heads[1].starts_with(most > part ? ":status: 200" : ":status: 503"));
            other.handler.shares.clear();
        }
        rig.handler.shares.clear();
        CHECK(whole.taken() == 0);
    }
}

TEST_CASE("A whole body passes the window, and one over the limit is refused on its stream alone")
{
    caller_rig rig;
    rig.send(raw::client_start());
    const auto send_body = [&](unsigned stream, std::size_t size) {
        rig.send(opened(stream, "/echo"));
        for (; size > 0; size -= std::min<std::size_t>(size, 16'384)) {
            const auto piece = std::min<std::size_t>(size, 16'384);
            rig.send(raw::frame(raw::data, piece == size ? raw::end_stream : 0, stream, std::string(piece, 'x')));
            rig.loop.io().poll();
        }
    };
    send_body(1, 60'000);
    REQUIRE(rig.until_ends("end 1"));
    CHECK(rig.bodies[1].size() == 60'000);
    rig.send(raw::headers_frame(3, raw::post("/echo", {{"content-length", "200001"}}), raw::end_headers));
    REQUIRE(rig.until_ends("reset 3 no_error"));
    CHECK(rig.heads[3].starts_with(":status: 413"));
    rig.send(raw::headers_frame(5, raw::get("/five")));
    REQUIRE(rig.until_ends("end 5"));
}

TEST_CASE("Expect is answered with 100 before the body")
{
    caller_rig rig;
    rig.send(raw::client_start());
    rig.send(raw::headers_frame(
        1,
        raw::post("/echo", {{"expect", "100-continue"}, {"content-length", "4"}}),
        raw::end_headers
    ));
    REQUIRE(rig.until([&] { return rig.heads[1] == ":status: 100\n"; }));
    rig.send(raw::frame(raw::data, raw::end_stream, 1, "body"));
    REQUIRE(rig.until_ends("end 1"));
    CHECK(rig.bodies[1] == "body");
}

TEST_CASE("Pieces of a body pass in both directions at once, and trailers end the answer")
{
    caller_rig rig;
    rig.send(raw::client_start() + opened(1, "/pieces"));
    std::string all;
    for (const std::string piece : {"one", "two", "three"}) {
        rig.send(raw::frame(raw::data, 0, 1, piece));
        all += piece;
        REQUIRE(rig.until([&] { return rig.bodies[1] == all; }));
    }
    rig.send(raw::frame(raw::data, raw::end_stream, 1));
    REQUIRE(rig.until_ends("end 1"));
    CHECK(rig.heads[1] == ":status: 200\nx-trailer: yes\n");
}

TEST_CASE("An answer waits for its caller's windows, and other streams do not wait for it")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::update_frame(0, 10'000'000) + raw::headers_frame(1, raw::get("/large")));
    REQUIRE(rig.until([&] { return rig.bodies[1].size() == 65'535; }));
    rig.send(raw::headers_frame(3, raw::get("/three")));
    REQUIRE(rig.until_ends("end 3"));
    CHECK(rig.bodies[1].size() == 65'535);
    rig.send(raw::update_frame(1, 10'000'000));
    REQUIRE(rig.until_ends("end 1"));
    CHECK(rig.bodies[1].size() == 1'000'000);
}

TEST_CASE("An answer that is not taken ends its stream when the time for writing is up")
{
    auto settings = usual_settings();
    settings.write_timeout = 200ms;
    for (const std::uint32_t window : {0U, 1U}) {
        CAPTURE(window);
        caller_rig rig{settings};
        rig.send(
            std::string{raw::preface} + raw::settings_frame({{4, window}}) + raw::headers_frame(1, raw::get("/large"))
        );
        REQUIRE(rig.until_ends("reset 1 cancel"));
        CHECK(rig.until([&] { return rig.streams == 0; }));
        rig.send(raw::headers_frame(3, raw::get("")));
        CHECK_FALSE(rig.ended);
    }
}

TEST_CASE("A caller's reset ends its exchange at once, and one whose work goes on keeps its place")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/wait")));
    REQUIRE(rig.until([&] { return rig.handler.begun == 1; }));
    rig.send(raw::reset_frame(1));
    REQUIRE(rig.until([&] { return rig.handler.ended == 1; }));
    CHECK(rig.handler.last_failure == "was reset");
    CHECK(rig.streams == 0);
    rig.send(raw::headers_frame(3, raw::get("/wait")) + raw::reset_frame(3) + raw::headers_frame(5, raw::get("/x")));
    REQUIRE(rig.until_ends("end 5"));
    CHECK(rig.handler.begun == 2);  // the third was reset before it was begun
}

TEST_CASE("Streams beyond the limit are refused")
{
    auto settings = usual_settings();
    settings.http2_streams = 2;
    caller_rig rig{settings};
    rig.send(raw::client_start());
    for (const auto stream : {1U, 3U, 5U}) {
        rig.send(raw::headers_frame(stream, raw::get("/wait")));
    }
    REQUIRE(rig.until_ends("reset 5 refused_stream"));
    CHECK(rig.streams == 2);
    CHECK(rig.counters.refused[0] == 1);
}

TEST_CASE("An answer that is cut ends in a reset, and a bug in 500 on its stream alone")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/cut")) + raw::headers_frame(3, raw::get("/throw")));
    REQUIRE(rig.until_ends("reset 1 internal_error"));
    REQUIRE(rig.until_ends("end 3"));
    CHECK(rig.bodies[1] == "half");
    CHECK(rig.heads[3].starts_with(":status: 500"));
    CHECK(rig.handler.problems == std::vector<std::string>{"a bug"});
}

TEST_CASE("A head that HTTP/1.1 refuses is answered on its stream")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/<")) + raw::headers_frame(3, raw::get("/three")));
    REQUIRE(rig.until_ends("end 1"));
    REQUIRE(rig.until_ends("end 3"));
    CHECK(rig.heads[1].starts_with(":status: 400"));
    CHECK(rig.heads[3].starts_with(":status: 200"));
}

TEST_CASE("A connection that drains lets its streams end and takes those that come within a second")
{
    caller_rig rig;
    rig.send(raw::client_start() + opened(1, "/echo"));
    REQUIRE(rig.until([&] { return rig.handler.begun == 1; }));
    rig.connection->drain();
    REQUIRE(rig.until_ends("goaway no_error\n"));
    rig.send(raw::headers_frame(3, raw::get("/three")));
    REQUIRE(rig.until_ends("end 3"));
    REQUIRE(rig.until_ends("goaway no_error\nend 3\ngoaway no_error\n"));
    CHECK_FALSE(rig.closed);
    rig.send(raw::frame(raw::data, raw::end_stream, 1, "body"));
    REQUIRE(rig.until_ends("end 1"));
    CHECK(rig.until([&] { return rig.closed; }));
    rig.socket = {};
    CHECK(rig.until([&] { return rig.ended; }));
}

TEST_CASE("A connection is ended in order when it is idle or old, and without SETTINGS")
{
    SUBCASE("idle")
    {
        auto settings = usual_settings();
        settings.idle_timeout = 200ms;
        caller_rig rig{settings};
        rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/x")));
        REQUIRE(rig.until([&] { return rig.closed; }));
        CHECK(rig.ends == "end 1\ngoaway no_error\n");
    }
    SUBCASE("old")
    {
        auto settings = usual_settings();
        settings.http2_age = 300ms;
        caller_rig rig{settings};
        rig.send(raw::client_start());
        REQUIRE(rig.until([&] { return rig.closed; }));
        CHECK(rig.ends == "goaway no_error\ngoaway no_error\n");
    }
    SUBCASE("without SETTINGS")
    {
        auto settings = usual_settings();
        settings.header_timeout = 200ms;
        caller_rig rig{settings};
        rig.send(raw::preface);
        REQUIRE(rig.until([&] { return rig.closed; }));
        CHECK(rig.ends == "goaway settings_timeout\n");
    }
}

TEST_CASE("A caller that goes over a limit is told and loses its connection, and its exchanges end")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/wait")));
    for (int i = 0; i < 520; ++i) {
        rig.send(raw::ping_frame());
    }
    REQUIRE(rig.until([&] { return rig.closed; }));
    CHECK(rig.ends == "goaway enhance_your_calm\n");
    CHECK(rig.handler.abuse == "pings");
    CHECK(rig.until([&] { return rig.streams == 0; }));
    CHECK(rig.counters.refused[static_cast<std::size_t>(net::http2::limit::pings)] == 1);
}

TEST_CASE("An aborted connection ends with its exchanges")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/wait")));
    REQUIRE(rig.until([&] { return rig.handler.begun == 1; }));
    rig.connection->abort();
    CHECK(rig.until([&] { return rig.ended; }));
    CHECK(rig.handler.ended == 1);
    CHECK(rig.counters.streams == 0);
}

TEST_CASE("A connection whose caller leaves ends with its exchanges")
{
    caller_rig rig;
    rig.send(raw::client_start() + raw::headers_frame(1, raw::get("/wait")) + opened(3, "/echo"));
    REQUIRE(rig.until([&] { return rig.handler.begun == 2; }));
    rig.socket = {};
    CHECK(rig.until([&] { return rig.ended; }));
    CHECK(rig.handler.ended == 2);
}

TEST_SUITE_END();
