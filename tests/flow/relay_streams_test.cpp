#include "tests/flow/relay_fixture.hpp"

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::http_client;
using test_support::recorded_request;

TEST_SUITE_BEGIN("flow/relay");

namespace {

constexpr auto soon = 2s;  // far below any timeout of these tests, far above what a loaded machine needs

constexpr const char* active = R"(cardea_streams_active{agent="a"})";

std::string ended(std::string_view reason)
{
    return R"(cardea_streams_ended_total{agent="a",reason=")" + std::string(reason) + "\"}";
}

// A caller that has got the head of its stream, to which the agent can now send.
http_client streaming_caller(relayed& x, std::string_view method = "message/stream")
{
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", method), {{"Accept", "text/event-stream"}}));
    const auto head = caller.read_head();
    REQUIRE(head.status == 200);
    REQUIRE(head.header("Content-Type") == "text/event-stream");
    REQUIRE(head.header("Transfer-Encoding") == "chunked");
    REQUIRE(x.agent.wait_for_streams(1));
    return caller;
}

void never_ending(config::settings& settings)
{
    settings.timeouts.upstream_head = 1h;
    settings.timeouts.upstream_idle = 1h;
}

}  // namespace

TEST_CASE("each event reaches the caller before the next one is sent")
{
    relayed x{test_support::event_stream({{"Cache-Control", "no-cache"}}), never_ending};
    auto caller = streaming_caller(x);
    CHECK(x.gateway.metric(active) == 1);
    for (int i = 0; i < 20; ++i) {
        const auto data = "{\"n\":" + std::to_string(i) + "}";
        x.agent.send_event(data);
        CHECK(caller.read_until(data + "\n\n\r\n").ends_with("data: " + data + "\n\n\r\n"));
    }
    x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n") == "0\r\n\r\n");
    CHECK(x.gateway.wait_for_metric(active, 0));
    CHECK(x.gateway.metric(ended("complete")) == 1);
    // Both connections go on.
    x.agent.otherwise([](const auto&) { return test_support::answer_json("{}"); });
    caller.send(call_text(call_body("2")));
    CHECK(caller.read_response().body == "{}");
    CHECK(x.agent.accepted_connections() == 1);
}

TEST_CASE("the bytes of a stream are untouched whatever its line ends, pieces and framing")
{
    const std::string text =
        "\xef\xbb\xbf: comment\n\nid: 1\r\ndata: a\r\ndata: b\r\n\r\ndata:c\r\rretry: 5\n\n"
        "event: x\ndata: \xc3\xa9\n\ndata: " +
        std::string(100'000, 'l') + "\n\ndata: half an event";
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";
    const test_support::script answers[] = {
        test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(text, 1)}),
        test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(text, 3)}),
        test_support::raw({head + "Transfer-Encoding: chunked\r\n\r\n" + flow::chunked(text, 20'000)}),
        test_support::raw({head + "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text}),
        {bytes{head + "\r\n"}, bytes{text}, test_support::close_now{}},
    };
    for (const auto& answer : answers) {
        const relayed x{answer, never_ending};
        http_client caller{x.port()};
        for (int i = 0; i < 2; ++i) {
            caller.send(call_text(call_body("1", "message/stream")));
            const auto got = caller.read_response();
            CHECK(got.status == 200);
            CHECK((got.body == text));
        }
        CHECK(x.gateway.wait_for_metric(ended("complete"), 2));
        CHECK(x.gateway.metric(active) == 0);
    }
}

TEST_CASE("a caller that leaves its stream ends the agent's side at once")
{
    for (const bool reset : {false, true}) {
        for (const std::string method : {"message/stream", "SendStreamingMessage", "tasks/resubscribe", "x/other"}) {
            CAPTURE(reset);
            CAPTURE(method);
            relayed x{test_support::event_stream(), never_ending};
            auto caller = streaming_caller(x, method);
            x.agent.send_event("one");
            caller.read_until("one\n\n");
            if (reset) {
                caller.reset();
            } else {
                caller.half_close();
            }
            CHECK(x.agent.wait_until_peer_closed(soon));
            CHECK(x.gateway.wait_for_metric(active, 0));
            CHECK(x.gateway.metric(ended("caller")) == 1);
            CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
        }
    }
}

TEST_CASE("a caller that leaves before its stream began ends the call at once")
{
    for (const bool reset : {false, true}) {
        CAPTURE(reset);
        relayed x{test_support::silence(), never_ending};
        http_client caller{x.port()};
        caller.send(call_text(call_body("1", "message/stream")));
        REQUIRE(x.agent.wait_for_requests(1));
        if (reset) {
            caller.reset();
        } else {
            caller.half_close();
        }
        CHECK(x.agent.wait_until_peer_closed(soon));
        CHECK(x.gateway.wait_for_metric(R"(cardea_http_requests_total{route="call",method="POST",code="499"})", 1));
    }
}

TEST_CASE("a caller of a unary call that closes its half gets an answer that comes soon")
{
    test_support::gate go;
    relayed x{test_support::raw({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}, go), never_ending};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    caller.half_close();
    REQUIRE(go.wait_until_reached());
    go.release();
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    CHECK(got.body == "{}");
    CHECK(caller.closed_by_peer());
}

TEST_CASE("a caller that closes its half gets the whole of an answer that keeps coming")
{
    test_support::gate more;
    const std::vector<std::string> pieces(10, "a");
    relayed x{
        test_support::then({bytes{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"}}, test_support::raw(pieces, more)),
        never_ending
    };
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    caller.half_close();
    CHECK(caller.read_head().status == 200);
    for (const auto& piece : pieces) {
        CHECK_FALSE(caller.closed_by_peer(50ms));  // far less than one piece may take, and all of them take more
        more.release();
        CHECK(caller.read_until(piece) == piece);
    }
    CHECK(caller.closed_by_peer());
    CHECK(x.gateway.wait_for_metric(R"(cardea_http_requests_total{route="call",method="POST",code="200"})", 1));
}

TEST_CASE("a caller that closes its half does not get an answer that stops coming")
{
    relayed x{{bytes{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab"}, test_support::hold{}}, never_ending};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(caller.read_head().status == 200);
    CHECK(caller.read_until("ab") == "ab");
    caller.half_close();
    CHECK(x.agent.wait_until_peer_closed(soon));
    CHECK(caller.closed_by_peer());
}

TEST_CASE("a caller of a unary call that leaves cancels it")
{
    for (const bool reset : {false, true}) {
        CAPTURE(reset);
        relayed x{test_support::silence(), never_ending};
        http_client caller{x.port()};
        caller.send(call_text(call_body()));
        REQUIRE(x.agent.wait_for_requests(1));
        if (reset) {
            caller.reset();
        } else {
            caller.close();
        }
        CHECK(x.agent.wait_until_peer_closed(soon));
        CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
        CHECK(x.gateway.metric(R"(cardea_http_requests_total{route="call",method="POST",code="499"})") == 1);
    }
}

TEST_CASE("a caller's leaving is noticed whatever the size of its call")
{
    // Among them those that fill a buffer to its last byte.
    const std::size_t sizes[] = {16'383, 16'384, 16'385, 32'768, 65'536, 131'072};
    for (const auto size : sizes) {
        for (const bool chunked : {false, true}) {
            CAPTURE(size);
            CAPTURE(chunked);
            relayed x{test_support::silence(), never_ending};
            http_client caller{x.port()};
            const auto text = [&](std::size_t id) {
                const auto body = call_body('"' + std::string(id, 'b') + '"');
                const auto coded = flow::chunked(body, size);
                return chunked
                           ? test_support::request_text("POST", "/agents/a", {{"Transfer-Encoding", "chunked"}}, coded)
                           : call_text(body);
            };
            const auto frame = text(size - 1'000).size() - (size - 1'000);
            REQUIRE(text(size - frame).size() == size);
            caller.send(text(size - frame));
            REQUIRE(x.agent.wait_for_requests(1));
            caller.reset();
            CHECK(x.agent.wait_until_peer_closed(soon));
        }
    }
}

TEST_CASE("a caller that leaves in the middle of a large answer ends the agent's side")
{
    for (const bool chunked : {false, true}) {
        for (const bool reset : {false, true}) {
            CAPTURE(chunked);
            CAPTURE(reset);
            relayed x{test_support::huge(std::uint64_t{1} << 30, chunked), never_ending};
            http_client caller{x.port()};
            caller.send(call_text(call_body()));
            CHECK(caller.read_head().status == 200);
            caller.read_some();
            if (reset) {
                caller.reset();
            } else {
                caller.close();
            }
            CHECK(x.agent.wait_until_peer_closed(soon));
            CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
        }
    }
}

TEST_CASE("a stream that the agent cuts is cut for the caller, and counted as the agent's")
{
    relayed x{test_support::event_stream(), never_ending};
    auto caller = streaming_caller(x);
    x.agent.send_event("one");
    caller.read_until("one\n\n\r\n");
    CHECK(x.gateway.metric(active) == 1);
    x.agent.cut_streams();
    CHECK(caller.read_until_closed().empty());  // no last chunk
    CHECK(x.gateway.wait_for_metric(active, 0));
    CHECK(x.gateway.metric(ended("upstream")) == 1);
    CHECK(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_reset"})") == 1);
}

TEST_CASE("a stream that breaks before a byte of it was passed is an error, and is counted as ended")
{
    const relayed x{
        {bytes{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"},
         test_support::hold{}},
        never_ending
    };
    http_client caller{x.port()};
    for (const std::string id : {"1", "2"}) {
        caller.send(call_text(call_body(id, "message/stream")));
        flow::check_jsonrpc_error(caller.read_response(), flow::not_http, id);
    }
    CHECK(x.gateway.wait_for_metric(ended("upstream"), 2));
    CHECK(x.gateway.metric(active) == 0);
    CHECK(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_protocol"})") == 2);
}

TEST_CASE("a call that comes during a stream is answered after it")
{
    relayed x{test_support::answer_json("{}"), never_ending};
    x.agent.next(test_support::event_stream());
    auto caller = streaming_caller(x);
    caller.send(call_text(call_body("2")));
    x.agent.send_event("one");
    caller.read_until("one\n\n\r\n");
    CHECK(x.agent.request_count() == 1);
    x.agent.end_streams();
    caller.read_until("0\r\n\r\n");
    CHECK(caller.read_response().body == "{}");
    CHECK(x.agent.request_count() == 2);
}

TEST_CASE("a stream that is silent for too long is cut, and counted as idle")
{
    relayed x{test_support::event_stream(), [](config::settings& s) { s.timeouts.upstream_idle = 150ms; }};
    auto caller = streaming_caller(x);
    CHECK(caller.read_until_closed().empty());
    CHECK(x.agent.wait_until_peer_closed(soon));
    CHECK(x.gateway.wait_for_metric(active, 0));
    CHECK(x.gateway.metric(ended("idle")) == 1);
    CHECK(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_timeout"})") == 1);
}

TEST_CASE("an event in time keeps a stream for as long again")
{
    relayed x{test_support::event_stream(), [](config::settings& s) { s.timeouts.upstream_idle = 1s; }};
    auto caller = streaming_caller(x);
    for (int i = 0; i < 4; ++i) {
        CHECK_FALSE(caller.closed_by_peer(500ms));  // together twice the time that one silence may last
        x.agent.send_event("e");
        caller.read_until("e\n\n\r\n");
    }
    x.agent.end_streams();
    CHECK(caller.read_until("0\r\n\r\n") == "0\r\n\r\n");
    CHECK(x.gateway.wait_for_metric(ended("complete"), 1));
}

TEST_CASE("a body that stops half-way is cut by the same timeout")
{
    const relayed x{
        {bytes{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"}, test_support::hold{}},
        [](config::settings& s) { s.timeouts.upstream_idle = 150ms; }
    };
    CHECK_THROWS_WITH_AS(flow::call(x.port(), call_body()), flow::cut_answer, std::runtime_error);
    CHECK(x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_timeout"})", 1));
    CHECK(x.gateway.metric(ended("idle")) == std::nullopt);  // it was no stream
}

TEST_CASE("many streams at once each get their own events, and end together")
{
    relayed x{
        [](const recorded_request& request) {
            auto first = flow::chunked("data: " + request.body + "\n\n", 4096);
            first.resize(first.size() - std::string_view{"0\r\n\r\n"}.size());
            return test_support::then(
                test_support::raw(
                    {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", first}
                ),
                {test_support::events{}}
            );
        },
        [](config::settings& s) {
            never_ending(s);
            s.workers = 2;
        }
    };
    constexpr std::size_t streams = 50;
    std::vector<http_client> callers;
    for (std::size_t i = 0; i < streams; ++i) {
        auto& caller = callers.emplace_back(x.port());
        caller.send(call_text(call_body(std::to_string(i + 100), "message/stream")));
    }
    for (std::size_t i = 0; i < streams; ++i) {
        CHECK(callers[i].read_head().status == 200);
        CHECK(callers[i].read_until("\n\n").ends_with(
            "data: " + call_body(std::to_string(i + 100), "message/stream") + "\n\n"
        ));
    }
    REQUIRE(x.agent.wait_for_streams(streams));
    CHECK(x.gateway.metric(active) == streams);
    CHECK(x.agent.open_connections() == streams);
    x.agent.send_event("all");
    for (auto& caller : callers) {
        CHECK(caller.read_until("all\n\n\r\n").ends_with("data: all\n\n\r\n"));
    }
    x.agent.end_streams();
    for (auto& caller : callers) {
        CHECK(caller.read_until("0\r\n\r\n") == "0\r\n\r\n");
    }
    CHECK(x.gateway.wait_for_metric(active, 0));
    CHECK(x.gateway.metric(ended("complete")) == streams);
}

TEST_CASE("a caller that takes nothing is left after the write timeout")
{
    relayed x{test_support::huge(std::uint64_t{1} << 30), [](config::settings& s) {
                  never_ending(s);
                  s.timeouts.write = 200ms;
              }};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(x.agent.wait_until_peer_closed());
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
    CHECK_THROWS_WITH_AS(caller.read_response(), flow::cut_answer, std::runtime_error);
}

TEST_SUITE_END();
