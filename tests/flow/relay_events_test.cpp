// What the gateway itself does to a stream of events: comments in its silence, and a limit for one event.
#include "tests/flow/relay_fixture.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <algorithm>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/relay_events");

namespace {

constexpr std::string_view comment_chunk = "e\r\n: keep-alive\n\n\r\n";
constexpr std::string_view comment = ": keep-alive\n\n";
constexpr auto some_comments = 450ms;  // for at least two, when one is due after 100 ms

void talkative(config::settings& settings)
{
    settings.timeouts.stream_keep_alive = 100ms;
    settings.timeouts.upstream_idle = 1h;
}

http_client stream_of(relayed& x, std::string_view version = "HTTP/1.1")
{
    http_client caller{x.port()};
    auto text = call_text(call_body("1", "message/stream"));
    text.replace(text.find("HTTP/1.1"), version.size(), version);
    caller.send(text);
    REQUIRE(caller.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    return caller;
}

std::string without_comments(std::string text)
{
    for (auto at = text.find(comment); at != std::string::npos; at = text.find(comment, at)) {
        text.erase(at, comment.size());
    }
    return text;
}

// An answer in full, with a pause before each of its pieces.
std::string paced(const std::vector<std::string>& pieces, const std::string& fields, std::chrono::milliseconds pause)
{
    test_support::gate next;
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + fields + "\r\n";
    auto script = test_support::then({test_support::bytes{head}}, test_support::raw(pieces, next));
    script.emplace_back(test_support::close_now{});
    relayed x{std::move(script), talkative};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", "message/stream"), {{"Connection", "close"}}));
    auto got = caller.read_until("\r\n\r\n");
    for (const auto& piece : pieces) {
        CHECK_FALSE(caller.closed_by_peer(pause));
        next.release();
        got += caller.read_until(piece);
    }
    return got + caller.read_until_closed();
}

}  // namespace

TEST_CASE("a silent stream gets comments, before its first event and after each")
{
    relayed x{test_support::event_stream(), talkative};
    auto caller = stream_of(x);
    for (const std::string data : {"one", "two"}) {
        CHECK(caller.read_until("\n\n\r\n") == comment_chunk);
        CHECK(caller.read_until("\n\n\r\n") == comment_chunk);
        x.agent.send_event(data);
        const auto got = caller.read_until(data + "\n\n\r\n");
        CHECK(got.ends_with("b\r\ndata: " + data + "\n\n\r\n"));
    }
    CHECK(caller.read_until("\n\n\r\n") == comment_chunk);
    x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n").ends_with("0\r\n\r\n"));
}

TEST_CASE("no comment stands inside an event, nor inside one line end")
{
    relayed x{test_support::event_stream(), talkative};
    auto caller = stream_of(x);
    x.agent.send_stream("data: a");
    caller.read_until("7\r\ndata: a\r\n");
    for (const std::string piece : {"\r", "\n", "data: b\r\n: c\r\n", "\r"}) {
        CHECK_FALSE(caller.closed_by_peer(some_comments));
        x.agent.send_stream(piece);
        const auto chunk = flow::chunked(piece, 100);
        const auto wanted = chunk.substr(0, chunk.size() - 5);
        CHECK(caller.read_until(piece + "\r\n") == wanted);
    }
    CHECK_FALSE(caller.closed_by_peer(some_comments));
    x.agent.send_stream("\n");
    const auto last = caller.read_until("1\r\n\n\r\n");
    CHECK(last == "1\r\n\n\r\n");
    CHECK(caller.read_until("\n\n\r\n") == comment_chunk);
}

TEST_CASE("without its comments a stream is the agent's byte for byte, however it ends its lines and its body")
{
    const std::vector<std::string> streams[] = {
        {"data: a\n\n", "data:", " b\n", "\n", ": c\n", "data: d\n\n"},
        {"data: a\r\n\r\n", "data: b\r", "\n", "\r", "\n", "data: c\r\n\r\n"},
        {"data: a\r\r", "data: b\r", "\r", "data: c\r\r"},
    };
    for (const auto& pieces : streams) {
        std::string whole;
        for (const auto& piece : pieces) {
            whole += piece;
        }
        CAPTURE(whole);
        relayed x{test_support::event_stream(), talkative};
        auto caller = stream_of(x, "HTTP/1.0");  // no chunks: what comes is the body
        std::string got;
        for (const auto& piece : pieces) {
            x.agent.send_stream(piece);
            got += caller.read_until(piece);
            caller.closed_by_peer(some_comments);
        }
        x.agent.end_streams();
        got += caller.read_until_closed();
        CHECK(got.find(comment) != std::string::npos);
        CHECK(without_comments(got) == whole);
        CHECK(tests::events_of(got) == tests::events_of(whole));
        CHECK(tests::events_of(got).size() == std::size_t{3});
    }
}

TEST_CASE("a byte order mark behind a comment does not spoil the first event")
{
    relayed x{test_support::event_stream(), talkative};
    auto caller = stream_of(x, "HTTP/1.0");
    auto got = caller.read_until(comment);
    x.agent.send_stream("\xEF\xBB");
    x.agent.send_stream(
        "\xBF"
        "data: a\n\n"
    );
    x.agent.end_streams();
    got += caller.read_until_closed();
    CHECK(without_comments(got) == "data: a\n\n");
}

TEST_CASE("a body with a length, or in a content coding, gets no comments")
{
    const auto sized = paced({"data: a\n\n", "data: b\n\n"}, "Content-Length: 18\r\n", some_comments);
    CHECK(sized.ends_with("\r\n\r\ndata: a\n\ndata: b\n\n"));
    const auto coded = paced({"data: a\n\n", "data: b\n\n"}, "Content-Encoding: gzip\r\n", some_comments);
    CHECK(coded.find("keep-alive") == std::string::npos);
    const auto plain = paced({"data: a\n\n", "data: b\n\n"}, "Content-Encoding: identity\r\n", some_comments);
    CHECK(plain.find(comment_chunk) != std::string::npos);
}

TEST_CASE("an answer that is no stream gets no comments")
{
    test_support::gate go;
    relayed x{
        test_support::then(
            {test_support::bytes{"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"}},
            test_support::raw({"1\r\na\r\n0\r\n\r\n"}, go)
        ),
        talkative
    };
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(caller.read_head().status == 200);
    CHECK_FALSE(caller.closed_by_peer(some_comments));
    go.release();
    CHECK(caller.read_until("0\r\n\r\n") == "1\r\na\r\n0\r\n\r\n");
}

TEST_CASE("a stream that keeps talking gets no comments")
{
    relayed x{test_support::event_stream(), [](config::settings& s) { s.timeouts.stream_keep_alive = 2s; }};
    auto caller = stream_of(x);
    std::string got;
    for (int i = 0; i < 8; ++i) {
        CHECK_FALSE(caller.closed_by_peer(300ms));  // together more than the silence that would bring one
        x.agent.send_event("e");
        got += caller.read_until("e\n\n\r\n");
    }
    CHECK(got.find("keep-alive") == std::string::npos);
}

TEST_CASE("comments can be turned off")
{
    relayed x{test_support::event_stream(), [](config::settings& s) { s.timeouts.stream_keep_alive = 0s; }};
    auto caller = stream_of(x);
    CHECK_FALSE(caller.closed_by_peer(some_comments));
    x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n") == "0\r\n\r\n");
}

TEST_CASE("comments of ours are no sign of life of the agent")
{
    relayed x{test_support::event_stream(), [](config::settings& s) {
                  s.timeouts.stream_keep_alive = 100ms;
                  s.timeouts.upstream_idle = 700ms;
              }};
    auto caller = stream_of(x);
    const auto got = caller.read_until_closed();
    CHECK(got.starts_with(comment_chunk));
    CHECK_FALSE(got.ends_with("0\r\n\r\n"));
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_ended_total{agent="a",reason="idle"})", 1));
}

TEST_CASE("an event may be as large as the limit, and a larger one cuts the stream and says so")
{
    constexpr std::size_t limit = 1024;
    for (const auto size : {limit - 1, limit, limit + 1}) {
        for (const std::size_t piece : {std::size_t{100}, size}) {
            CAPTURE(size);
            CAPTURE(piece);
            relayed x{test_support::event_stream(), [](config::settings& s) { s.limits.sse_event = limit; }};
            auto caller = stream_of(x);
            x.agent.send_event("first");
            caller.read_until("first\n\n\r\n");
            const auto event = "data: " + std::string(size - 8, 'x') + "\n\n";
            for (std::size_t at = 0; at < event.size(); at += piece) {
                x.agent.send_stream(event.substr(at, piece));
            }
            if (size <= limit) {
                x.agent.send_event("last");
                CHECK(caller.read_until("last\n\n\r\n").ends_with("data: last\n\n\r\n"));
                continue;
            }
            CHECK_FALSE(caller.read_until_closed().ends_with("0\r\n\r\n"));
            CHECK(x.agent.wait_until_peer_closed());
            CHECK(x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason="event_too_large"})", 1));
            CHECK(x.gateway.metric(R"(cardea_streams_ended_total{agent="a",reason="upstream"})") == 1);
            const auto lines = flow::access_lines(x.gateway, 1);
            REQUIRE(lines.size() == 1);
            CHECK(lines[0].find(R"("code":"event_too_large","from":"upstream")") != std::string::npos);
        }
    }
}

TEST_CASE("a first event over the limit is an error if nothing of it was passed on, whatever frames it")
{
    const std::string event = "data: " + std::string(2000, 'x') + "\n\n";
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    constexpr flow::error_answer
        too_large{502, -32603, "event_too_large", "An event of the agent's stream is over the limit.", false};
    for (const auto& rest :
         {"Content-Length: " + std::to_string(event.size()) + "\r\n\r\n" + event,
          "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(event, 2048)}) {
        const relayed x{test_support::raw({head + rest}), [](config::settings& s) { s.limits.sse_event = 1024; }};
        flow::check_jsonrpc_error(flow::call(x.port(), call_body("1", "message/stream")), too_large, "1");
    }
}

TEST_SUITE_END();
