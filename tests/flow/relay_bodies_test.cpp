// Bodies of calls and answers: sizes, framings, and what is refused before an agent hears of it.
#include "tests/flow/relay_fixture.hpp"

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::field_list;
using test_support::http_client;
using test_support::request_text;

TEST_SUITE_BEGIN("flow/relay");

namespace {

constexpr flow::error_answer too_large{413, 0, "body_too_large", "The request body is over the limit.", false};
constexpr flow::error_answer
    wrong_type{415, -32005, "unsupported_media_type", "The body must be sent as application/json.", false};
constexpr flow::error_answer
    wrong_method{405, 0, "method_not_allowed", "This address does not take this method.", false};
constexpr flow::error_answer malformed{400, 0, "bad_request", "The request is malformed.", false};
constexpr flow::error_answer slow{408, 0, "request_timeout", "The request did not arrive in time.", true};

test_support::script ok()
{
    return test_support::answer_json("{}");
}

// A call of exactly so many bytes.
std::string call_of(std::size_t size)
{
    const auto frame = call_body("\"\"").size();
    return call_body('"' + std::string(size - frame, 'b') + '"');
}

std::string chunked_call(std::string_view body, std::size_t chunk)
{
    return request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}},
        flow::chunked(body, chunk)
    );
}

}  // namespace

TEST_CASE("a huge answer passes byte for byte, with a length and chunked")
{
    constexpr std::size_t size = 10 * 1024 * 1024;
    const auto expected = flow::pattern_text(size);
    for (const bool chunked : {false, true}) {
        CAPTURE(chunked);
        const relayed x{test_support::huge(size, chunked)};
        http_client caller{x.port()};
        for (int i = 0; i < 2; ++i) {
            caller.send(call_text(call_body()));
            const auto got = caller.read_response();
            CHECK(got.status == 200);
            CHECK((got.body == expected));
            CHECK(got.header("Content-Length") == (chunked ? "" : std::to_string(size)));
            CHECK(got.header("Transfer-Encoding") == (chunked ? "chunked" : ""));
        }
        CHECK(x.agent.accepted_connections() == 1);
    }
}

TEST_CASE("a large answer goes no faster than its caller takes it")
{
    constexpr std::size_t size = 64 * 1024 * 1024;
    test_support::gate last;
    relayed x{test_support::then(test_support::huge(size), test_support::raw({"surplus"}, last))};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(caller.read_head().status == 200);
    // Were it not held back, the whole answer would be written within this time.
    CHECK_FALSE(last.wait_until_reached(1, 500ms));
    caller.reset();
    CHECK(x.agent.wait_until_peer_closed());
}

TEST_CASE("an announced length that is beyond all memory is passed as it comes")
{
    relayed x{{bytes{"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc"}, test_support::hold{}}};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(caller.read_head().header("Content-Length") == "9223372036854775807");
    CHECK(caller.read_until("abc") == "abc");
    caller.reset();
    CHECK(x.agent.wait_until_peer_closed());
}

TEST_CASE("an answer that ends with its connection is framed again")
{
    relayed x{{bytes{"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"}, bytes{"hello"}, test_support::close_now{}}
    };
    http_client caller{x.port()};
    for (int i = 0; i < 2; ++i) {
        caller.send(call_text(call_body()));
        const auto got = caller.read_response();
        CHECK(got.status == 200);
        CHECK(got.header("Transfer-Encoding") == "chunked");
        CHECK(got.count("Connection") == 0);
        CHECK(got.body == "hello");
    }
    CHECK(x.agent.accepted_connections() == 2);
}

TEST_CASE("an answer that ends with a reset instead of its connection's end is cut")
{
    test_support::gate go;
    const relayed x{{
        bytes{"HTTP/1.1 200 OK\r\n\r\nhello"},
        test_support::pass_gate{go.shared()},
        test_support::reset_now{},
    }};
    http_client caller{x.port()};
    caller.send(call_text(call_body()));
    CHECK(caller.read_head().status == 200);
    CHECK(caller.read_until("hello\r\n") == "5\r\nhello\r\n");
    go.release();
    CHECK(caller.read_until_closed().empty());
}

TEST_CASE("a large call arrives whole with its length, however it was framed")
{
    constexpr std::size_t size = 1024 * 1024;
    const auto body = call_of(size);
    const std::string texts[] = {
        call_text(body),
        chunked_call(body, size),
        chunked_call(body, 65'536),
        chunked_call(body, 1'000),
        chunked_call(body, 7),
    };
    for (const auto& text : texts) {
        CAPTURE(text.size());
        relayed x{ok()};
        http_client caller{x.port()};
        for (std::size_t i = 0; i < 2; ++i) {
            caller.send(text);
            CHECK(caller.read_response().body == "{}");
            REQUIRE(x.agent.request_count() == i + 1);
            const auto seen = x.agent.request(i);
            CHECK((seen.body == body));
            CHECK(seen.header("Content-Length") == std::to_string(size));
            CHECK(seen.count("Content-Length") == 1);
            CHECK(seen.count("Transfer-Encoding") == 0);
        }
    }
}

TEST_CASE("a call is taken up to the limit in bytes and not beyond, with a length and chunked")
{
    constexpr std::size_t limit = 20'000;
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        for (const std::size_t chunk : {std::size_t{0}, std::size_t{1}, std::size_t{999}, limit + 1}) {
            CAPTURE(size);
            CAPTURE(chunk);
            relayed x{ok(), [](config::settings& s) { s.limits.body = limit; }};
            http_client caller{x.port()};
            const auto body = call_of(size);
            caller.send(chunk == 0 ? call_text(body) : chunked_call(body, chunk));
            const auto got = caller.read_response();
            if (size <= limit) {
                CHECK(got.status == 200);
                CHECK((x.agent.request(0).body == body));
            } else {
                flow::check_plain_error(got, too_large, "a");
                CHECK(got.header("Connection") == "close");
                CHECK(caller.closed_by_peer());
                CHECK(x.agent.accepted_connections() == 0);
            }
        }
    }
}

TEST_CASE("a caller that announces too much is refused before it sends it")
{
    const relayed x{ok(), [](config::settings& s) { s.limits.body = 1000; }};
    http_client caller{x.port()};
    caller.send(request_text("POST", "/agents/a", {{"Content-Length", "1001"}, {"Expect", "100-continue"}}));
    flow::check_plain_error(caller.read_response(), too_large, "a");
    http_client other{x.port()};
    other.send(request_text("POST", "/agents/a", {{"Content-Length", "9223372036854775807"}}));
    flow::check_plain_error(other.read_response(), too_large, "a");
}

TEST_CASE("a caller that waits for 100 gets it once, and one that does not wait does not")
{
    relayed x{ok()};
    const auto body = call_body();
    const field_list expecting{{"Expect", "100-continue"}, {"Content-Length", std::to_string(body.size())}};
    {
        http_client caller{x.port()};
        caller.send(request_text("POST", "/agents/a", expecting));
        CHECK(caller.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK(x.agent.request_count() == 0);
        caller.send(body);
        CHECK(caller.read_head().status == 200);
        CHECK(caller.read_until("{}") == "{}");
        caller.send(call_text(body));
        CHECK(caller.read_head().status == 200);
        CHECK(caller.read_until("{}") == "{}");
    }
    {
        http_client caller{x.port()};
        caller.send(request_text("POST", "/agents/a", expecting, body));
        CHECK(caller.read_head().status == 200);
    }
    REQUIRE(x.agent.request_count() == 3);
    for (const auto& seen : x.agent.requests()) {
        CHECK(seen.body == body);
        CHECK(seen.count("Expect") == 0);
    }
    http_client caller{x.port()};
    caller.send(request_text("POST", "/agents/a", {{"Expect", "x 100-continue"}, {"Content-Length", "5"}}, "AAAAA"));
    CHECK(caller.read_response().status == 417);
}

TEST_CASE("a call whose every byte comes alone, or that is parted anywhere, is the same call")
{
    const auto body = call_body("\"split\"");
    for (const auto& text : {call_text(body), chunked_call(body, 11)}) {
        relayed x{ok()};
        http_client caller{x.port()};
        for (const char c : text) {
            caller.send(std::string_view{&c, 1});
        }
        CHECK(caller.read_response().body == "{}");
        for (std::size_t at = 1; at < text.size(); ++at) {
            caller.send(std::string_view{text}.substr(0, at));
            caller.send(std::string_view{text}.substr(at));
            CHECK(caller.read_response().body == "{}");
        }
        REQUIRE(x.agent.request_count() == text.size());
        for (const auto& seen : x.agent.requests()) {
            CHECK(seen.body == body);
            CHECK(seen.header("Content-Length") == std::to_string(body.size()));
        }
    }
}

TEST_CASE("a chunked call that is malformed is refused, and nothing behind it is looked at")
{
    const std::string bodies[] = {
        "ZZ\r\n",
        "5\r\nhelloX\r\n0\r\n\r\n",
        "5\nhello\n0\n\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "00000000000000005\r\nhello\r\n0\r\n\r\n",
    };
    for (const auto& coded : bodies) {
        CAPTURE(coded);
        relayed x{ok()};
        http_client caller{x.port()};
        caller.send(
            request_text("POST", "/agents/a", {{"Transfer-Encoding", "chunked"}}, coded + call_text(call_body()))
        );
        flow::check_plain_error(caller.read_response(), malformed, "a");
        CHECK(caller.closed_by_peer());
        CHECK(x.agent.accepted_connections() == 0);
    }
}

TEST_CASE("a call that does not arrive in time is refused")
{
    const relayed x{ok(), [](config::settings& s) { s.timeouts.body = 100ms; }};
    http_client caller{x.port()};
    caller.send(request_text("POST", "/agents/a", {{"Content-Length", "100"}}, "{"));
    flow::check_plain_error(caller.read_response(), slow, "a");
    CHECK(caller.closed_by_peer());
    CHECK(x.agent.accepted_connections() == 0);
}

TEST_CASE("only POST calls an agent")
{
    const relayed x{ok()};
    for (const std::string method : {"PUT", "PATCH", "DELETE", "OPTIONS"}) {
        for (const std::string target : {"/agents/a", "/agents/a/", "/agents/nobody"}) {
            CAPTURE(method);
            CAPTURE(target);
            const auto got = test_support::request(x.port(), method, target);
            flow::check_plain_error(got, wrong_method);
            CHECK(got.header("Allow") == "GET, HEAD, POST");
        }
    }
    http_client caller{x.port()};
    caller.send(request_text("HEAD", "/agents/a") + call_text(call_body()));
    CHECK(caller.read_response(/*to_head=*/true).status == 200);
    CHECK(caller.read_response().body == "{}");  // no body came before it
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("a call must be JSON by its type, and a page of a browser must say so")
{
    struct row {
        field_list fields;
        bool taken;
    };
    const row rows[] = {
        {{}, true},
        {{{"Content-Type", "application/json"}}, true},
        {{{"Content-Type", "Application/JSON; charset=UTF-8"}}, true},
        {{{"Content-Type", "application/a2a+json"}}, true},
        {{{"Content-Type", "application/json;charset=\"utf-8\""}}, true},
        {{{"Origin", "http://evil.example"}}, false},
        {{{"Origin", "http://evil.example"}, {"Content-Type", "application/json"}}, true},
        {{{"Content-Type", "text/plain"}}, false},
        {{{"Content-Type", "text/json"}}, false},
        {{{"Content-Type", "application/x-www-form-urlencoded"}}, false},
        {{{"Content-Type", "multipart/form-data; boundary=x"}}, false},
        {{{"Content-Type", "application/json; charset=utf-16"}}, false},
        {{{"Content-Type", "application/jsonp"}}, false},
        {{{"Content-Type", "application/+json"}}, false},
        {{{"Content-Type", ""}}, false},
    };
    for (const auto& row : rows) {
        CAPTURE(test_support::first_value(row.fields, "Content-Type"));
        const relayed x{ok()};
        const auto got = test_support::request(x.port(), "POST", "/agents/a", row.fields, call_body());
        if (row.taken) {
            CHECK(got.status == 200);
        } else {
            flow::check_jsonrpc_error(got, wrong_type, "null");
            CHECK(x.agent.accepted_connections() == 0);
        }
    }
}

TEST_SUITE_END();
