// Every kind of answer that an agent can get wrong, to a call and to a call for a stream: what the caller gets is mapped,
// never looks complete if it is not, and a connection that has gone wrong is never used again.
#include "tests/flow/relay_fixture.hpp"

using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::http_client;
using test_support::script;

TEST_SUITE_BEGIN("flow/agent_answers");

namespace {

enum class outcome : std::uint8_t {
    passes,      // 200 with the whole body
    protocol,    // 502 upstream_protocol
    reset,       // 502 upstream_reset
    status,      // 502 upstream_status
    incomplete,  // 502, or the answer is cut: whichever the moment allows
};

struct row {
    std::string id;
    std::string what;
    std::string answer;
    outcome ends;
    bool kept = false;    // the agent's connection may be used again
    bool closes = false;  // the agent closes it after the answer
};

const std::string body = "data: 1\n\n";  // nine bytes

std::string repeated(std::string_view text, std::size_t times)
{
    std::string all;
    for (std::size_t i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

// The framing of answers, from `head` on, which is a status line and a Content-Type.
std::vector<row> framings(const std::string& head)
{
    const std::string whole = head + "Content-Length: 9\r\n\r\n" + body;
    const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
    const std::string poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    return {
        {"R01", "a good one", whole, outcome::passes, true},
        {"R02",
         "both framings",
         head + "Content-Length: 9\r\n" + chunked.substr(head.size()) + "0\r\n\r\n",
         outcome::protocol},
        {"R03",
         "a coding and a length",
         head + "Transfer-Encoding: gzip\r\nContent-Length: 9\r\n\r\n" + body,
         outcome::protocol},
        {"R04", "two lengths", head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc", outcome::protocol},
        {"R05", "a negative length", head + "Content-Length: -1\r\n\r\n", outcome::protocol},
        {"R06", "too short for its length", head + "Content-Length: 20\r\n\r\n" + body, outcome::incomplete, false, true
        },
        {"R07", "more than its length", whole + poison, outcome::passes},
        {"R08", "an end within a chunk", chunked + "14\r\n" + body, outcome::incomplete, false, true},
        {"R09", "a chunk size that is none", chunked + "9\r\n" + body + "\r\nZZ\r\nab", outcome::incomplete},
        {"R10", "trailers", chunked + "9\r\n" + body + "\r\n0\r\nSet-Cookie: a=b\r\n\r\n", outcome::passes, true},
        {"R11", "chunked in HTTP/1.0", "HTTP/1.0" + chunked.substr(8) + "0\r\n\r\n", outcome::protocol},
        {"R12", "an end with the connection", head + "\r\n" + body, outcome::passes, false, true},
        {"R37",
         "a length far beyond what comes",
         head + "Content-Length: 100000000\r\n\r\n" + body,
         outcome::incomplete,
         false,
         true},
        {"R38",
         "a long chunk extension",
         chunked + "9;" + std::string(9216, 'e') + "\r\n" + body + "\r\n0\r\n\r\n",
         outcome::incomplete},
        {"R39", "chunked twice", head + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", outcome::protocol},
    };
}

// What comes before the fields, and the end before anything came.
std::vector<row> status_lines(const std::string& head)
{
    const auto fields = head.substr(head.find("\r\n") + 2) + "Content-Length: 9\r\n\r\n" + body;
    const auto good = head + "Content-Length: 9\r\n\r\n" + body;
    return {
        {"R15", "an interim answer first", "HTTP/1.1 100 Continue\r\n\r\n" + good, outcome::passes, true},
        {"R16",
         "fifty interim answers",
         repeated("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 50) + good,
         outcome::protocol},
        {"R17",
         "unasked 101",
         "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
         outcome::protocol},
        {"R25", "status 99", "HTTP/1.1 99 Low\r\n" + fields, outcome::protocol},
        {"R26", "status 1000", "HTTP/1.1 1000 Wide\r\n" + fields, outcome::protocol},
        {"R27", "status 600", "HTTP/1.1 600 High\r\n" + fields, outcome::protocol},
        {"R28", "no space after the status", "HTTP/1.1 200\r\n" + fields, outcome::protocol},
        {"R29", "two spaces", "HTTP/1.1  200 OK\r\n" + fields, outcome::protocol},
        {"R30", "ICY", "ICY 200 OK\r\n" + fields, outcome::protocol},
        {"R31", "HTTP/3.1", "HTTP/3.1 200 OK\r\n" + fields, outcome::protocol},
        {"R32", "nothing at all", "", outcome::reset, false, true},
        {"R33", "an end in the status line", "HTTP/1.1 20", outcome::reset, false, true},
        {"R34", "an end in the fields", head + "X-Half: ", outcome::reset, false, true},
        {"R14", "304 to a call", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", outcome::status},
    };
}

std::vector<row> fields(const std::string& head)
{
    const auto rest = "Content-Length: 9\r\n\r\n" + body;
    return {
        {"R18", "a folded field", head + "X: a\r\n b\r\n" + rest, outcome::protocol},
        {"R19", "a space before the colon", head + "X : a\r\n" + rest, outcome::protocol},
        {"R20", "a bare CR", head + "X: a\rb\r\n" + rest, outcome::protocol},
        {"R21", "a bare LF", head + "X: a\nY: b\r\n" + rest, outcome::protocol},
        {"R22", "a NUL", head + std::string("X: a\0b\r\n", 8) + rest, outcome::protocol},
        {"R23", "a field of 70 kB", head + "X: " + std::string(70'000, 'a') + "\r\n" + rest, outcome::protocol},
        {"R24", "3,000 fields", head + repeated("X-N: 1\r\n", 3000) + rest, outcome::protocol},
        {"R35", "fields of that hop", head + "Connection: close, X-Int\r\nX-Int: 1\r\n" + rest, outcome::passes},
        {"R36", "a coding that is not ours", head + "Content-Encoding: gzip\r\n" + rest, outcome::passes, true},
        {"R40", "two cookies", head + "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n" + rest, outcome::passes, true},
    };
}

std::vector<row> rows_for(bool stream)
{
    const std::string head =
        std::string{"HTTP/1.1 200 OK\r\nContent-Type: "} + (stream ? "text/event-stream" : "application/json") + "\r\n";
    auto all = framings(head);
    for (const auto& more : {status_lines(head), fields(head)}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

void check_refusal(const test_support::http_response& got, outcome expected)
{
    switch (expected) {
        case outcome::protocol:
            return flow::check_jsonrpc_error(got, flow::not_http, "7");
        case outcome::reset:
            return flow::check_jsonrpc_error(got, flow::cut_off, "7");
        case outcome::status:
            return flow::check_jsonrpc_error(got, flow::bad_status, "7");
        case outcome::incomplete:
            return flow::check_jsonrpc_error(
                got,
                got.header("Cardea-Error") == "upstream_reset" ? flow::cut_off : flow::not_http,
                "7"
            );
        case outcome::passes:
            CHECK(got.status == 200);
    }
}

void check_passed(const test_support::http_response& got)
{
    CHECK(got.status == 200);
    CHECK((got.body == body));
    CHECK(got.count("X-Int") == 0);
    CHECK(got.count("Link") == 0);
    // Two cookies stay two fields, or none comes through; one from a trailer is none.
    CHECK(got.count("Set-Cookie") != 1);
    CHECK(got.header("Connection").empty());
}

void check_row(const row& each, bool stream)
{
    CAPTURE(each.id);
    CAPTURE(each.what);
    CAPTURE(stream);
    relayed x{test_support::answer_json("{\"fresh\":1}")};
    script answer{bytes{each.answer}};
    if (each.closes) {
        answer.emplace_back(test_support::close_now{});
    }
    x.agent.next(answer);
    http_client caller{x.port()};
    caller.send(call_text(call_body("7", stream ? "message/stream" : "message/send")));
    bool cut = false;
    try {
        const auto got = caller.read_response();
        if (each.ends == outcome::passes) {
            check_passed(got);
        } else {
            check_refusal(got, each.ends);
        }
    } catch (const std::runtime_error& failed) {
        cut = true;
        CHECK(std::string_view{failed.what()} == flow::cut_answer);
        CHECK(each.ends == outcome::incomplete);
    }
    const auto next = [&] {
        http_client another{x.port()};
        auto& on = cut ? another : caller;
        on.send(call_text(call_body("8")));
        return on.read_response();
    }();
    CHECK(next.status == 200);
    CHECK(next.body == "{\"fresh\":1}");
    REQUIRE(x.agent.request_count() == 2);
    CHECK((x.agent.request(1).connection == 1) == each.kept);
}

}  // namespace

TEST_CASE("an answer of an agent is passed whole, refused or visibly cut, and a connection gone wrong not used again")
{
    for (const bool stream : {false, true}) {
        for (const auto& each : rows_for(stream)) {
            check_row(each, stream);
        }
    }
}

TEST_CASE("a 204 with a body and a body to HEAD are given without it, and their connections not used again")
{
    struct bodiless {
        const char* id;
        const char* method;
        std::string answer;
        unsigned status;
    };
    const bodiless rows[] = {
        {"R13", "POST", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", 204},
        {"R14", "GET", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 5\r\n\r\nhello", 304},
        {"R41", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200},
    };
    for (const auto& each : rows) {
        CAPTURE(each.id);
        relayed x{test_support::answer(200, "fresh"), [](config::settings& s) { s.agents[0].relay_paths = {"/x"}; }};
        x.agent.next({bytes{each.answer}});
        http_client caller{x.port()};
        caller.send(test_support::request_text(each.method, "/agents/a/x"));
        const auto got = caller.read_response(std::string_view{each.method} == "HEAD");
        CHECK(got.status == each.status);
        CHECK(got.body.empty());
        caller.send(test_support::request_text("GET", "/agents/a/x"));
        CHECK(caller.read_response().body == "fresh");
        REQUIRE(x.agent.request_count() == 2);
        CHECK(x.agent.request(1).connection == 2);
    }
}

TEST_CASE("a body that an agent sends long after an answer that has none reaches nobody")
{
    struct late_body {
        const char* method;
        std::string head;
        unsigned status;
        bool kept;
    };
    const std::string poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    const std::string length = "Content-Length: " + std::to_string(poison.size()) + "\r\n\r\n";
    const std::string chunks = "Transfer-Encoding: chunked\r\n\r\n";
    const late_body rows[] = {
        {"HEAD", "HTTP/1.1 200 OK\r\n" + length, 200, false},
        {"HEAD", "HTTP/1.1 200 OK\r\n" + chunks, 200, false},
        {"HEAD", "HTTP/1.1 200 OK\r\n\r\n", 200, false},
        {"HEAD", "HTTP/1.1 304 Not Modified\r\n" + length, 304, false},
        {"GET", "HTTP/1.1 304 Not Modified\r\n" + length, 304, false},
        {"GET", "HTTP/1.1 304 Not Modified\r\n" + chunks, 304, false},
        {"GET", "HTTP/1.1 304 Not Modified\r\n\r\n", 304, true},
        {"GET", "HTTP/1.1 204 No Content\r\n" + length, 204, false},
        {"GET", "HTTP/1.1 204 No Content\r\n" + chunks, 204, false},
        {"GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, true},
    };
    for (const auto& each : rows) {
        CAPTURE(each.method);
        CAPTURE(each.head);
        relayed x{test_support::answer(200, "fresh"), [](config::settings& s) { s.agents[0].relay_paths = {"/x"}; }};
        x.agent.next({bytes{each.head}});  // the body would come when the next call is on the connection
        http_client caller{x.port()};
        caller.send(test_support::request_text(each.method, "/agents/a/x"));
        CHECK(caller.read_response(true).status == each.status);
        CHECK(x.gateway.metric("cardea_upstream_connections_idle") == (each.kept ? 1 : 0));
        caller.send(test_support::request_text("GET", "/agents/a/x"));
        CHECK(caller.read_response().body == "fresh");
        CHECK((x.agent.request(1).connection == 1) == each.kept);
    }
}

TEST_SUITE_END();
