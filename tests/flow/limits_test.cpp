// Every limit of a request over a real socket: one below, at it, one beyond.
#include "tests/flow/relay_fixture.hpp"

#include <array>
#include <chrono>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/limits");

namespace {

struct outcome {
    unsigned status = 0;
    bool closed = false;
    std::string code;
};

outcome play(const relayed& x, const std::string& text)
{
    http_client caller{x.port()};
    caller.try_send(text);
    const auto got = caller.read_response();
    return {got.status, caller.closed_by_peer(300ms), got.header("Cardea-Error")};
}

// `make(n)` is a request that has n of what is limited.
template <class Make>
void check_limit(relayed& x, std::size_t limit, const Make& make, unsigned status, const std::string& code)
{
    for (const auto n : {limit - 1, limit}) {
        CAPTURE(n);
        const auto before = x.agent.request_count();
        const auto got = play(x, make(n));
        CHECK(got.status == 200);
        CHECK_FALSE(got.closed);
        CHECK(x.agent.request_count() == before + 1);
    }
    const auto before = x.agent.request_count();
    const auto got = play(x, make(limit + 1));
    CHECK(got.status == status);
    CHECK(got.code == code);
    CHECK(got.closed != test_support::over_http2());  // which refuses the stream alone
    CHECK(x.agent.request_count() == before);
}

test_support::script ok()
{
    return test_support::answer_json("{}");
}

std::string head_of(std::size_t bytes)
{
    const auto frame = call_text("", {{"X-Pad", ""}});
    return call_text("", {{"X-Pad", std::string(bytes - frame.size(), 'p')}});
}

// A call whose body is this text, chunked already.
std::string chunked_call(const std::string& coded)
{
    return test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}},
        coded
    );
}

std::string one_chunk(const std::string& extension)
{
    const auto body = call_body();
    return flow::chunked(body, 1000).insert(2, extension);
}

std::chrono::milliseconds since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

}  // namespace

TEST_CASE("the bytes of a head are limited")
{
    relayed x{ok(), [](config::settings& s) {
                  s.limits.header = 2000;
                  s.limits.target = 100;
              }};
    const auto call = [](std::size_t bytes) {
        const auto body = call_body();
        const auto frame = call_text(body, {{"X-Pad", ""}}).size() - body.size();
        return call_text(body, {{"X-Pad", std::string(bytes - frame, 'p')}});
    };
    check_limit(x, 2000, call, 431, "header_too_large");
    CHECK(head_of(2000).size() == 2000);
}

TEST_CASE("the fields of a head are limited")
{
    relayed x{ok(), [](config::settings& s) { s.limits.header_fields = 20; }};
    const auto call = [](std::size_t fields) {
        return call_text(call_body(), test_support::field_list(fields - 3, {"X-Some", "y"}));
    };
    check_limit(x, 20, call, 431, "header_too_large");
}

TEST_CASE("the value of a field is limited")
{
    relayed x{ok(), [](config::settings& s) { s.limits.header_value = 500; }};
    const auto call = [](std::size_t bytes) { return call_text(call_body(), {{"X-Some", std::string(bytes, 'y')}}); };
    check_limit(x, 500, call, 431, "header_too_large");
}

TEST_CASE("the target is limited")
{
    relayed x{ok(), [](config::settings& s) { s.limits.target = 200; }};
    const auto call = [](std::size_t bytes) {
        auto text = call_text(call_body());
        return text.insert(text.find(" HTTP/"), "?" + std::string(bytes - 10, 'q'));
    };
    check_limit(x, 200, call, 414, "target_too_long");
}

TEST_CASE("the body of a call is limited")
{
    relayed x{ok(), [](config::settings& s) { s.limits.body = 3000; }};
    const auto body = [](std::size_t bytes) {
        return call_body('"' + std::string(bytes - call_body("\"\"").size(), 'i') + '"');
    };
    check_limit(x, 3000, [&](std::size_t n) { return call_text(body(n)); }, 413, "body_too_large");
    check_limit(
        x,
        3000,
        [&](std::size_t n) { return chunked_call(flow::chunked(body(n), 700)); },
        413,
        "body_too_large"
    );
}

TEST_CASE("the body of an opaque relay has its own limit")
{
    relayed x{ok(), [](config::settings& s) {
                  s.limits.stream_body = 100'000;
                  s.agents[0].relay_paths = {"/up"};
              }};
    const auto upload = [](std::size_t bytes) {
        return test_support::request_text("PUT", "/agents/a/up", {}, std::string(bytes, 'u'));
    };
    check_limit(x, 100'000, upload, 413, "body_too_large");
}

TEST_CASE("the size line of a chunk is limited")
{
    relayed x{ok()};
    const auto call = [](std::size_t line) { return chunked_call(one_chunk(";" + std::string(line - 3, 'e'))); };
    check_limit(x, 256, call, 400, "bad_request");
}

TEST_CASE("the extensions of a body's chunks together are limited")
{
    relayed x{ok()};
    const auto call = [](std::size_t bytes) {
        const std::string body = call_body();
        std::string coded;
        for (std::size_t i = 0; bytes > 0; ++i) {
            const auto some = std::min<std::size_t>(bytes, 200);
            coded += "1;" + std::string(some - 1, 'e') + "\r\n" + body[i] + "\r\n";
            bytes -= some;
        }
        const auto sent = static_cast<std::size_t>(std::count(coded.begin(), coded.end(), ';'));
        return chunked_call(coded + flow::chunked(std::string_view{body}.substr(sent), 1000));
    };
    check_limit(x, 4096, call, 400, "bad_request");
}

TEST_CASE("the trailers of a body are limited")
{
    relayed x{ok()};
    const auto call = [](std::size_t bytes) {
        auto coded = flow::chunked(call_body(), 1000);
        coded.resize(coded.size() - 2);
        return chunked_call(coded + "T: " + std::string(bytes - 5, 't') + "\r\n\r\n");
    };
    check_limit(x, 4096, call, 431, "header_too_large");
}

TEST_CASE("a head has its time, however it trickles")
{
    const relayed x{ok(), [](config::settings& s) { s.timeouts.header = 600ms; }};
    for (const std::string first : {"", "POST /agents/a HTTP/1.1\r\n"}) {
        http_client caller{x.port()};
        const auto start = std::chrono::steady_clock::now();
        caller.send(first);
        while (since(start) < 500ms) {
            CHECK_FALSE(caller.closed_by_peer(50ms));
            if (!first.empty()) {
                caller.send("X: y\r\n");
            }
        }
        if (first.empty()) {
            CHECK(caller.read_until_closed().empty());
        } else {
            CHECK(caller.read_response().status == 408);
            CHECK(caller.closed_by_peer());
        }
        CHECK(since(start) >= 600ms);
        CHECK(since(start) < 1600ms);
    }
    // One that comes in time, and then the next.
    http_client caller{x.port()};
    for (int i = 0; i < 3; ++i) {
        caller.send("POST /agents/a HTTP/1.1\r\n");
        CHECK_FALSE(caller.closed_by_peer(300ms));
        caller.send(call_text(call_body()).substr(25));
        CHECK(caller.read_response().status == 200);
    }
}

TEST_CASE("a body that comes too slowly ends, and one that comes fast enough does not")
{
    const relayed x{ok(), [](config::settings& s) {
                        s.timeouts.body_grace = 300ms;
                        s.limits.body_rate = 2000;
                        s.agents[0].relay_paths = {"/up"};
                    }};
    const auto text = call_text(call_body('"' + std::string(4000, 'i') + '"'));
    const auto upload = test_support::request_text("PUT", "/agents/a/up", {}, std::string(100'000, 'u'));
    struct row {
        const std::string& request;
        std::size_t at_once;
        std::size_t piece;
        unsigned status;
    };
    // Pieces come 20 times a second at most.
    for (const auto& r :
         {row{text, 300, 50, 408},
          row{text, 300, 0, 408},
          row{text, 300, 400, 200},
          row{upload, 90'000, 50, 408},
          row{upload, 90'000, 800, 200}}) {
        CAPTURE(r.piece);
        http_client caller{x.port()};
        const auto start = std::chrono::steady_clock::now();
        caller.send(std::string_view{r.request}.substr(0, r.at_once));
        for (auto at = r.at_once; r.piece > 0 && at < r.request.size() && !caller.closed_by_peer(50ms); at += r.piece) {
            if (!caller.try_send(std::string_view{r.request}.substr(at, r.piece))) {
                break;
            }
        }
        CHECK(caller.read_response().status == r.status);
        CHECK(since(start) >= 300ms);
        CHECK(since(start) < 5s);
    }
    CHECK(x.gateway.metric(R"(cardea_http_requests_total{route="relay",method="PUT",code="408"})") == 1);
    CHECK(x.gateway.metric(R"(cardea_http_requests_total{route="call",method="POST",code="408"})") == 2);
}

TEST_CASE("a kept connection may be idle for its time, and no longer")
{
    const relayed x{ok(), [](config::settings& s) { s.timeouts.idle = 600ms; }};
    http_client caller{x.port()};
    for (int i = 0; i < 3; ++i) {
        caller.send(call_text(call_body()));
        CHECK(caller.read_response().status == 200);
        CHECK_FALSE(caller.closed_by_peer(300ms));
    }
    CHECK(caller.read_until_closed().empty());
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
}

TEST_CASE("a connection carries as many requests as the limit, and the last answer closes it")
{
    const relayed x{ok(), [](config::settings& s) { s.limits.requests = 3; }};
    http_client caller{x.port()};
    for (int i = 1; i <= 3; ++i) {
        CAPTURE(i);
        caller.send(call_text(call_body()));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.header("Connection") == (i < 3 ? "" : "close"));
    }
    CHECK(caller.closed_by_peer());
    const relayed by_default{ok()};
    http_client other{by_default.port()};
    for (int i = 1; i <= 1000; ++i) {
        other.send(call_text(call_body()));
        const auto got = other.read_response();
        REQUIRE(got.status == 200);
        REQUIRE(got.header("Connection") == (i < 1000 ? "" : "close"));
    }
}

TEST_CASE("as many event streams are open as the limit says, and one more is refused before the agent hears of it")
{
    relayed x{test_support::event_stream(), [](config::settings& s) { s.limits.streams = 2; }};
    const auto open = [&](std::string_view method) {
        http_client caller{x.port()};
        caller.send(call_text(call_body("7", method)));
        return caller;
    };
    auto first = open("message/stream");
    CHECK(first.read_head().status == 200);
    auto second = open("SendStreamingMessage");
    CHECK(second.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(2));
    constexpr flow::error_answer overloaded{503, -31503, "overloaded", "The gateway is at its limit.", true};
    auto third = open("message/stream");
    const auto refused = third.read_response();
    flow::check_jsonrpc_error(refused, overloaded, "7");
    CHECK(refused.header("Retry-After") == "5");
    CHECK(x.agent.request_count() == 2);
    // A stream that nobody had announced is refused when it turns out to be one.
    auto unannounced = open("message/send");
    flow::check_jsonrpc_error(unannounced.read_response(), overloaded, "7");
    CHECK(x.gateway.metric(R"(cardea_streams_active{agent="a"})") == 2);
    first.reset();
    CHECK(x.gateway.wait_for_metric(R"(cardea_streams_active{agent="a"})", 1));
    third.send(call_text(call_body("8", "message/stream")));
    CHECK(third.read_head().status == 200);
    x.agent.otherwise([](const auto&) { return ok(); });
    CHECK(flow::call(x.port(), call_body()).status == 200);  // what is no stream goes on
}

TEST_SUITE_END();
