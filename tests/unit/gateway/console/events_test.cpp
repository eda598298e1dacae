#include "gateway/console/events.hpp"

#include "net/server/server_connection.hpp"
#include "tests/unit/gateway/console/texts.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/console/events");

using namespace std::chrono_literals;

namespace {

using gateway::console::event_feed;
using gateway::console::event_limits;

struct kept_sink final : core::log_sink {
    void write(std::string_view lines) override { text += std::string{lines} + '\n'; }
    std::string text;
};

class feeding_handler final : public net::http_handler {
public:
    explicit feeding_handler(event_feed& feed)
        : feed_{feed}
    {
    }
    net::routine<> handle(net::caller_exchange& caller) override { return feed_.serve(caller); }
    net::routine<> refuse(net::caller_exchange&, core::error why) override
    {
        FAIL(why.detail);
        co_return;
    }
    void failed(std::string_view what) noexcept override { FAIL(what); }
    void on_handshake(net::handshake, std::string_view, std::string_view) noexcept override {}

private:
    event_feed& feed_;
};

net::server_settings patient_settings()
{
    net::server_settings settings;
    settings.header_timeout = 1h;
    settings.write_timeout = 1h;
    settings.linger = 0ms;
    return settings;
}

// A log, its feed and the loop of both; tests run the loop.
struct rig {
    explicit rig(event_limits limits = {}, gateway::telemetry::live_log_limits kept = {})
        : log{behind, 1, kept},
          feed{loop, log, [this](core::log_sink* viewers) { told.push_back(viewers != nullptr); }, limits}
    {
        loop.timers().start();
        loop.ready().start();
    }

    void turn(std::chrono::milliseconds time = 20ms)
    {
        const auto by = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < by) {
            loop.io().run_one_for(5ms);
        }
    }

    net::loop loop;
    kept_sink behind;
    gateway::telemetry::live_log log;
    std::vector<bool> told;
    event_feed feed;
    feeding_handler handler{feed};
    net::server_settings settings = patient_settings();
    net::request_buffer_pool spaces{settings.head};
};

class viewer {
public:
    explicit viewer(rig& of, const std::string& target = "/events", const std::string& fields = "", int buffer = 0)
        : rig_{of}
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
        if (buffer > 0) {
            REQUIRE(::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) == 0);
        }
        socket_.emplace(ends[0]);
        connection_
            .emplace(of.loop, net::accepted_socket{core::descriptor{ends[1]}, {}}, of.handler, of.settings, of.spaces);
        net::start(connection_->run(), [this](const std::exception_ptr& bug) {
            CHECK_FALSE(bug);
            ended_ = true;
        });
        const auto text = "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
        REQUIRE(
            ::send(socket_->number(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<::ssize_t>(text.size())
        );
        of.turn();
    }
    ~viewer()
    {
        socket_.reset();
        connection_->abort();
        const auto by = std::chrono::steady_clock::now() + 5s;
        while (!ended_ && std::chrono::steady_clock::now() < by) {
            rig_.turn(5ms);
        }
        CHECK(ended_);
    }
    viewer(const viewer&) = delete;
    viewer& operator=(const viewer&) = delete;

    // All that has come, with the head.
    const std::string& raw()
    {
        std::array<char, 65536> piece{};
        for (;;) {
            const auto got = ::recv(socket_->number(), piece.data(), piece.size(), 0);
            if (got <= 0) {
                return got_;
            }
            got_.append(piece.data(), static_cast<std::size_t>(got));
            rig_.turn(2ms);
        }
    }

    // The body without its framing.
    std::string body()
    {
        std::string out;
        raw();
        auto at = got_.find("\r\n\r\n");
        REQUIRE(at != std::string::npos);
        at += 4;
        while (at < got_.size()) {
            const auto length = std::stoul(got_.substr(at), nullptr, 16);
            at = got_.find("\r\n", at) + 2;
            out += got_.substr(at, length);
            at += length + 2;
        }
        return out;
    }

    void leave() { socket_.reset(); }
    void abort() { connection_->abort(); }
    void drain() { connection_->drain(); }
    bool ended() const noexcept { return ended_; }

private:
    rig& rig_;
    std::optional<core::descriptor> socket_;
    std::optional<net::server_connection> connection_;
    std::string got_;
    bool ended_ = false;
};

std::string line(int n)
{
    return R"({"ts":"2026-11-28T11:00:00.000Z","level":"info","event":"e","agent":"a)" + std::to_string(n % 2) +
           R"(","n":)" + std::to_string(1000 + n) + '}';
}

}  // namespace

TEST_CASE("a viewer gets every line from then on, as the log has it")
{
    rig x;
    x.log.write(line(0));
    viewer one{x};
    CHECK(one.raw().starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(one.raw().find("Content-Type: text/event-stream\r\n") != std::string::npos);
    CHECK(one.raw().find("Cache-Control: no-store\r\n") != std::string::npos);
    CHECK(one.body() == ": live\n\n");
    x.log.write(line(1));
    x.log.write(line(2) + '\n' + line(3));
    x.turn();
    CHECK(
        one.body() == ": live\n\n" + event_of_line(2, line(1)) + event_of_line(3, line(2)) + event_of_line(4, line(3))
    );
    CHECK(x.behind.text == line(0) + '\n' + line(1) + '\n' + line(2) + '\n' + line(3) + '\n');
}

TEST_CASE("a viewer gets the last lines that pass its filter, and then those to come")
{
    rig x;
    for (int i = 0; i < 6; ++i) {
        x.log.write(line(i));
    }
    viewer filtered{x, "/events?agent=a1&last=2"};
    viewer all{x, "/events?last=1000"};
    viewer none{x, "/events?last=0&agent=nobody"};
    x.log.write(line(6) + '\n' + line(7));
    x.turn();
    CHECK(
        filtered.body() ==
        event_of_line(4, line(3)) + event_of_line(6, line(5)) + ": live\n\n" + event_of_line(8, line(7))
    );
    CHECK(count(all.body(), "data: {\"ts\"") == 8);
    CHECK(none.body() == ": live\n\n");
}

TEST_CASE("a viewer that comes again goes on behind the last line that it got")
{
    rig x{{}, {.lines = 3, .bytes = 10'000, .unread = 10'000}};
    for (int i = 0; i < 6; ++i) {
        x.log.write(line(i));  // 4, 5 and 6 stay
    }
    const auto kept = event_of_line(4, line(3)) + event_of_line(5, line(4)) + event_of_line(6, line(5));
    const auto resumed = [&x](const std::string& id) {
        viewer again{x, "/events?last=1", "Last-Event-ID: " + id + "\r\n"};
        return again.body();
    };
    CHECK(resumed("5") == event_of_line(6, line(5)) + ": live\n\n");
    CHECK(resumed("6") == ": live\n\n");
    CHECK(resumed("3") == kept + ": live\n\n");
    CHECK(resumed("2") == "event: lost\ndata: {\"lines\": 1}\n\n" + kept + ": live\n\n");
    CHECK(resumed("1") == "event: lost\ndata: {\"lines\": 2}\n\n" + kept + ": live\n\n");
    // Of another process: how much of it was lost, nobody knows.
    CHECK(resumed("0") == kept + ": live\n\n");
    // No number, or one that is still to come: as if it were not there.
    for (const std::string id : {"7", "99", "x", "", "-1", "99999999999999999999999"}) {
        CAPTURE(id);
        CHECK(resumed(id) == event_of_line(6, line(5)) + ": live\n\n");
    }
}

TEST_CASE("a viewer may be exactly so far behind, and a line more is lost and told")
{
    const auto size = event_of_line(10, line(10)).size();
    for (const std::size_t limit : {3 * size - 1, 3 * size, 3 * size + 1}) {
        CAPTURE(limit);
        rig x{{.behind = limit}};
        for (int i = 1; i < 10; ++i) {
            x.log.write(line(i));
        }
        viewer one{x};
        x.log.write(line(10) + '\n' + line(11) + '\n' + line(12));
        x.turn();
        const auto got = one.body();
        CHECK(count(got, "event: e\n") == (limit < 3 * size ? 2 : 3));
        CHECK(lost_in(got) == (limit < 3 * size ? 1 : 0));
        // It has caught up.
        x.log.write(line(13));
        x.turn();
        CHECK(one.body().ends_with(event_of_line(13, line(13))));
    }
}

TEST_CASE("a viewer that does not read loses lines, and another one none")
{
    rig x{{.behind = 2000, .turn = 1000}};
    viewer slow{x, "/events", "", 4096};
    viewer quick{x};
    constexpr int lines = 500;
    for (int i = 0; i < lines; ++i) {
        x.log.write(line(i));
        if (i % 10 == 9) {
            x.turn(1ms);
            quick.raw();
        }
    }
    x.turn();
    CHECK(count(quick.body(), "event: e\n") == lines);
    CHECK(lost_in(quick.body()) == 0);
    std::string got;
    for (int i = 0; i < 100 && count(got, "event: e\n") + lost_in(got) < lines; ++i) {
        got = slow.body();
        x.turn(2ms);
    }
    CHECK(lost_in(got) > 0);
    CHECK(count(got, "event: e\n") + lost_in(got) == lines);
    x.log.write(line(1));
    x.turn();
    CHECK(slow.body().ends_with(event_of_line(lines + 1, line(1))));
}

TEST_CASE("lines that the log has dropped before anybody was told count as lost")
{
    rig x{{}, {.lines = 2, .bytes = 10'000, .unread = 250}};
    viewer one{x};
    for (int i = 1; i <= 6; ++i) {
        x.log.write(line(i));
    }
    x.turn();
    const auto got = one.body();
    CHECK(lost_in(got) + count(got, "event: e\n") == 6);
    CHECK(lost_in(got) > 0);
}

TEST_CASE("many lines are told in several turns, all of them")
{
    rig x{{.turn = 100}};
    viewer one{x};
    for (int i = 1; i <= 50; ++i) {
        x.log.write(line(i));
    }
    x.turn(50ms);
    CHECK(count(one.body(), "event: e\n") == 50);
    CHECK(lost_in(one.body()) == 0);
}

TEST_CASE("there are places for so many viewers and no more, and a place is free again when one leaves")
{
    rig x{{.viewers = 3}};
    std::list<viewer> all;
    for (int i = 0; i < 3; ++i) {
        all.emplace_back(x);
        CHECK(all.back().raw().starts_with("HTTP/1.1 200 OK\r\n"));
    }
    {
        viewer more{x};
        CHECK(more.raw().starts_with("HTTP/1.1 503 "));
        CHECK(more.raw().find("Cardea-Error: overloaded\r\n") != std::string::npos);
        CHECK(more.raw().find("Retry-After: ") != std::string::npos);
    }
    all.front().leave();
    x.turn();
    CHECK(all.front().ended());
    viewer next{x};
    CHECK(next.raw().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("access lines are asked for while there is a viewer")
{
    rig x;
    CHECK(x.told.empty());
    {
        viewer one{x};
        CHECK(x.told == std::vector<bool>{true});
        viewer two{x};
        CHECK(x.told == std::vector<bool>{true});
        one.leave();
        x.turn();
        CHECK(x.told == std::vector<bool>{true});
        x.log.viewers().write(line(1));
        x.turn();
        CHECK(two.body() == ": live\n\n" + event_of_line(1, line(1)));
        CHECK(x.behind.text.empty());
    }
    CHECK(x.told == std::vector<bool>{true, false});
    viewer again{x};
    CHECK(x.told == std::vector<bool>{true, false, true});
}

TEST_CASE("a quiet log says now and then that it is there")
{
    rig x{{.comment = 150ms}};
    viewer one{x};
    const auto by = std::chrono::steady_clock::now() + 5s;
    while (count(one.body(), ": still here\n\n") < 3 && std::chrono::steady_clock::now() < by) {
        x.turn(20ms);
    }
    CHECK(count(one.body(), ": still here\n\n") >= 3);
}

TEST_CASE("a wrong filter, another method and the end of the gateway are said")
{
    rig x;
    {
        viewer wrong{x, "/events?foo=1"};
        CHECK(wrong.raw().starts_with("HTTP/1.1 400 "));
        CHECK(wrong.raw().find("Cardea-Error: invalid_params\r\n") != std::string::npos);
    }
    viewer one{x};
    x.feed.stop();
    x.turn();
    CHECK(one.raw().ends_with("0\r\n\r\n"));
    viewer late{x};
    CHECK(late.raw().starts_with("HTTP/1.1 503 "));
    CHECK(late.raw().find("Cardea-Error: draining\r\n") != std::string::npos);
}

TEST_CASE("a viewer that is cut ends at once")
{
    rig x;
    viewer one{x};
    one.abort();
    x.turn(200ms);
    CHECK(one.ended());
}
