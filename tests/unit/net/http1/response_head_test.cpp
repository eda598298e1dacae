#include "net/http1/head.hpp"
#include "tests/unit/net/http1/outcome.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace net::http1;

namespace {

core::result<std::size_t> parse(response_parser& parser, std::string_view bytes, method to = method::get)
{
    return parser.parse(bytes, to);
}

void check_refused(const std::string& bytes, method to = method::get, head_limits limits = {})
{
    CAPTURE(bytes);
    response_parser parser{limits};
    const auto parsed = parser.parse(bytes, to);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == core::errc::upstream_protocol);
    CHECK(parsed.error().from == core::side::upstream);
    CHECK_FALSE(parsed.error().detail.empty());
}

response_head accept(const std::string& bytes, method to = method::get, head_limits limits = {})
{
    CAPTURE(bytes);
    response_parser parser{limits};
    const auto parsed = parser.parse(bytes, to);
    REQUIRE(parsed.has_value());
    REQUIRE(*parsed == bytes.size());
    return parser.head();
}

// A head with the status line `line` and the field lines `fields`.
std::string head(const std::string& line, const std::string& fields = "Content-Length: 2\r\n")
{
    return line + "\r\n" + fields + "\r\n";
}

}  // namespace

TEST_SUITE_BEGIN("net/http1/response head");

TEST_CASE("a response head is given as it was sent, field by field")
{
    const auto bytes = head("HTTP/1.1 200 OK", "Content-Length: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n");
    const auto got = accept(bytes);
    CHECK(got.status == 200);
    CHECK(got.minor_version == 1);
    CHECK(got.body == framing::length);
    CHECK(got.content_length == 2);
    CHECK(got.keep_alive);
    REQUIRE(got.fields.size() == 3);
    CHECK(got.fields[1].id == field_name::set_cookie);
    CHECK(got.fields[1].value == "a=1");
    CHECK(got.fields[2].value == "b=2");
}

TEST_CASE("a status line is one of HTTP/1.x with a status from 100 to 599, a space and a reason that may be empty")
{
    for (const std::string line :
         {"HTTP/1.1 200 OK",
          "HTTP/1.0 200 OK",
          "HTTP/1.1 200 ",
          "HTTP/1.1 200  two \t spaces",
          "HTTP/1.1 200 \xC3\xA4",
          "HTTP/1.1 599 X",
          "HTTP/1.1 100 Continue"}) {
        accept(head(line, ""));
    }
    for (const std::string line :
         {"HTTP/1.1 099 X",
          "HTTP/1.1 99 X",
          "HTTP/1.1 600 X",
          "HTTP/1.1 1000 X",
          "HTTP/1.1 000 X",
          "HTTP/1.1 20 X",
          "HTTP/1.1 2x0 X",
          "HTTP/1.1 200",
          "HTTP/1.1  200 X",
          "HTTP/1.1\t200 X",
          "HTTP/1.1 200\tX",
          "HTTP/1.2 200 X",
          "HTTP/3.1 200 X",
          "HTTP/2 200 X",
          "HTTP/1.11 200 X",
          "http/1.1 200 X",
          "ICY 200 OK",
          "HTTP/1.1",
          "",
          " HTTP/1.1 200 X",
          "\r\nHTTP/1.1 200 X",
          "HTTP/1.1 200 a\rb",
          "HTTP/1.1 200 a\x7f",
          "HTTP/1.1 +20 X",
          "HTTP/1.1 -20 X"}) {
        check_refused(head(line, ""));
    }
    check_refused("HTTP/1.1 200 OK\nContent-Length: 2\n\n");
    check_refused(std::string{"HTTP/1.1 200 a\0b\r\n\r\n", 20});
}

TEST_CASE("an upstream that changes the protocol unasked is refused")
{
    check_refused(head("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket\r\nConnection: Upgrade\r\n"));
}

TEST_CASE("field lines of an answer are read as strictly as those of a request")
{
    for (const std::string line :
         {"X : a\r\n",
          " X: a\r\n",
          "X: a\r\n b\r\n",
          "X: a\rb\r\n",
          "X: a\nb\r\n",
          "X: a\n",
          "X\r\n",
          ": a\r\n",
          "X: \x7f\r\n",
          "X\x80: a\r\n"}) {
        check_refused(head("HTTP/1.1 200 OK", "Content-Length: 2\r\n" + line));
    }
    check_refused(head("HTTP/1.1 200 OK", std::string{"X: \0\r\n", 6}));
}

TEST_CASE("an answer whose length is in doubt is refused")
{
    for (const std::string fields :
         {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
          "Content-Length: 2\r\nContent-Length: 3\r\n",
          "Content-Length: 2\r\nContent-Length: 2\r\n",
          "Content-Length: 2, 2\r\n",
          "Content-Length: -1\r\n",
          "Content-Length:\r\n",
          "Content-Length: 9223372036854775808\r\n",
          "Transfer-Encoding: gzip\r\n",
          "Transfer-Encoding: gzip\r\nContent-Length: 2\r\n",
          "Transfer-Encoding: gzip, chunked\r\n",
          "Transfer-Encoding: chunked, chunked\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: identity\r\n",
          "Transfer-Encoding:\r\n",
          "Connection: a b\r\n"}) {
        for (const auto to : {method::get, method::head}) {
            check_refused(head("HTTP/1.1 200 OK", fields), to);
        }
        check_refused(head("HTTP/1.1 304 Not Modified", fields));
    }
    check_refused(head("HTTP/1.0 200 OK", "Transfer-Encoding: chunked\r\n"));
}

TEST_CASE("the end of an answer's body follows from status, request and fields")
{
    struct row {
        std::string line;
        std::string fields;
        method to;
        framing body;
        std::uint64_t length;
        bool kept;
    };
    const std::string five = "Content-Length: 5\r\n";
    const std::string chunked = "Transfer-Encoding: Chunked\r\n";
    const std::array rows{
        row{"1.1 200 ", five, method::post, framing::length, 5, true},
        row{"1.1 200 ", "Content-Length: 0\r\n", method::post, framing::length, 0, true},
        row{"1.1 200 ",
            "Content-Length: 9223372036854775807\r\n",
            method::get,
            framing::length,
            9223372036854775807U,
            true},
        row{"1.1 200 ", chunked, method::post, framing::chunked, 0, true},
        row{"1.1 200 ", "", method::post, framing::until_close, 0, false},
        row{"1.1 404 ", "", method::get, framing::until_close, 0, false},
        row{"1.1 205 ", "", method::get, framing::until_close, 0, false},
        row{"1.0 200 ", five, method::post, framing::length, 5, false},
        row{"1.0 200 ", "Connection: keep-alive\r\n" + five, method::post, framing::length, 5, false},
        row{"1.0 200 ", "", method::post, framing::until_close, 0, false},
        row{"1.1 200 ", "Connection: x, Close\r\n" + five, method::post, framing::length, 5, false},
        row{"1.1 200 ", "Connection: close\r\n" + chunked, method::post, framing::chunked, 0, false},
        row{"1.1 200 ", five, method::head, framing::none, 0, false},
        row{"1.1 200 ", chunked, method::head, framing::none, 0, false},
        row{"1.1 200 ", "", method::head, framing::none, 0, false},
        row{"1.1 200 ", "Connection: close\r\n", method::head, framing::none, 0, false},
        row{"1.0 200 ", "", method::head, framing::none, 0, false},
        row{"1.1 204 ", "", method::post, framing::none, 0, true},
        row{"1.1 204 ", five, method::post, framing::none, 0, false},
        row{"1.1 204 ", chunked, method::post, framing::none, 0, false},
        row{"1.1 204 ", "Connection: close\r\n", method::post, framing::none, 0, false},
        row{"1.1 304 ", five, method::get, framing::none, 0, false},
        row{"1.1 304 ", chunked, method::get, framing::none, 0, false},
        row{"1.1 304 ", "", method::head, framing::none, 0, false},
        row{"1.1 304 ", "", method::get, framing::none, 0, true},
        row{"1.1 304 ", "Connection: close\r\n", method::get, framing::none, 0, false},
        row{"1.1 100 ", "", method::post, framing::none, 0, true},
        row{"1.1 103 ", "Link: </a>\r\n", method::get, framing::none, 0, true},
        row{"1.1 100 ", "Content-Length: 0\r\n", method::post, framing::none, 0, true},
    };
    for (const auto& [line, fields, to, body, length, kept] : rows) {
        CAPTURE(line);
        CAPTURE(fields);
        const auto got = accept(head("HTTP/" + line, fields), to);
        CHECK(got.body == body);
        CHECK(got.content_length == length);
        CHECK(got.keep_alive == kept);
    }
}

TEST_CASE("How long the agent keeps a connection is read from Keep-Alive, and what is wrong there costs no answer")
{
    struct row {
        std::string fields;
        long seconds;  // -1: not announced
    };
    const std::array rows{
        row{"", -1},
        row{"Keep-Alive: timeout=5\r\n", 5},
        row{"keep-alive: TIMEOUT=5\r\n", 5},
        row{"Keep-Alive: max=100, timeout=5\r\n", 5},
        row{"Keep-Alive: timeout=5, max=100\r\n", 5},
        row{"Keep-Alive: ,, timeout=5\r\n", 5},
        row{"Keep-Alive: timeout=5\r\nKeep-Alive: timeout=3\r\n", 3},
        row{"Keep-Alive: timeout=0\r\n", 0},
        row{"Keep-Alive: timeout=86401\r\n", 86400},
        row{"Keep-Alive: timeout=99999999999999999999999\r\n", 86400},
        row{"Keep-Alive: timeout=\r\n", -1},
        row{"Keep-Alive: timeout=-1\r\n", -1},
        row{"Keep-Alive: timeout=5s\r\n", -1},
        row{"Keep-Alive: timeout =5\r\n", -1},
        row{"Keep-Alive: \r\n", -1},
        row{"Keep-Alive: max=5\r\n", -1},
    };
    for (const auto& each : rows) {
        const auto got = accept(head("HTTP/1.1 200 OK", "Content-Length: 2\r\n" + each.fields));
        CHECK((got.keep_alive_for ? got.keep_alive_for->count() : -1) == each.seconds);
    }
}

TEST_CASE("an interim answer that announces a body is refused")
{
    check_refused(head("HTTP/1.1 100 Continue", "Content-Length: 5\r\n"));
    check_refused(head("HTTP/1.1 103 Early Hints", "Transfer-Encoding: chunked\r\n"));
}

TEST_CASE("after an interim answer and a reset the next head is read")
{
    const std::string bytes = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    response_parser parser{{}};
    const auto interim = parse(parser, bytes);
    REQUIRE(interim.has_value());
    CHECK(*interim == 40);
    CHECK(parser.head().status == 103);
    parser.reset();
    const auto last = parse(parser, std::string_view{bytes}.substr(*interim));
    REQUIRE(last.has_value());
    CHECK(tests::describe(parser.head()) == "204 HTTP/1.1 body 0 of 0 kept");
}

TEST_CASE("a response head may be as long as the limit and no longer")
{
    const auto with = [](std::size_t bytes) {
        const std::string begin = "HTTP/1.1 204 \r\nX: ";
        return begin + std::string(bytes - begin.size() - 4, 'x') + "\r\n\r\n";
    };
    accept(with(199), method::get, {.bytes = 200});
    accept(with(200), method::get, {.bytes = 200});
    check_refused(with(201), method::get, {.bytes = 200});
    check_refused(with(1000).substr(0, 200), method::get, {.bytes = 200});
    check_refused(with(70 * 1024));
    response_parser parser{{.bytes = 200}};
    CHECK(parse(parser, with(1000).substr(0, 199)).value() == 0);
    check_refused("HTTP/1.1 200 " + std::string(16 * 1024, 'x'));
}

TEST_CASE("a response head may have as many fields as the limit and no more")
{
    const auto with = [](std::size_t fields) {
        std::string bytes = "HTTP/1.1 204 \r\n";
        for (std::size_t field = 0; field < fields; ++field) {
            bytes += "X:1\r\n";
        }
        return bytes + "\r\n";
    };
    accept(with(99));
    accept(with(100));
    check_refused(with(101));
    check_refused(with(3000));
}

TEST_CASE("a bad answer is refused with the first byte that decides it")
{
    const std::array rows{
        std::string{"I"},
        std::string{"HTTP/1.1 200\r"},
        std::string{"HTTP/1.1 1000"},
        std::string{"HTTP/1.1 101 "},
        std::string{"HTTP/1.1 600 "},
        std::string{"HTTP/1.1 200 O\n"},
        std::string{"HTTP/1.1 200 O\rX"},
        std::string{"HTTP/1.1 200 O\r\n "},
        std::string{"HTTP/1.1 200 O\r\nX "},
        std::string{"HTTP/1.1 200 O\r\nX:\n"},
        std::string{"HTTP/1.1 200 O\r\nContent-Length: x\r\n"},
        std::string{"HTTP/1.1 200 O\r\n\rX"},
    };
    for (const auto& bytes : rows) {
        CAPTURE(bytes);
        response_parser parser{{}};
        CHECK(parse(parser, std::string_view{bytes}.substr(0, bytes.size() - 1)).value() == 0);
        check_refused(bytes);
    }
}

TEST_SUITE_END();
