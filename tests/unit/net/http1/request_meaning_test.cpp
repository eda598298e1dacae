#include "tests/unit/net/http1/outcome.hpp"
#include "tests/unit/net/http1/request_heads.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace net::http1;
using namespace http1_test;
using core::errc;

TEST_SUITE_BEGIN("net/http1/request meaning");

TEST_CASE("the body's length is known for certain, or the request is refused")
{
    struct row {
        std::string fields;
        framing body;
        std::uint64_t length;
    };
    const std::array accepted{
        row{"", framing::none, 0},
        row{"Content-Length: 0\r\n", framing::length, 0},
        row{"Content-Length: 5\r\n", framing::length, 5},
        row{"content-length:\t0005 \r\n", framing::length, 5},
        row{"Content-Length: 9223372036854775807\r\n", framing::length, 9223372036854775807U},
        row{"Transfer-Encoding: chunked\r\n", framing::chunked, 0},
        row{"transfer-encoding:\tChUnKeD\r\n", framing::chunked, 0},
    };
    for (const auto& [fields, body, length] : accepted) {
        CAPTURE(fields);
        for (const std::string_view verb : {"GET", "POST"}) {
            const auto head = parse(std::string{verb} + " / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
            CHECK(head.body == body);
            CHECK(head.content_length == length);
        }
    }
    const std::array refused{
        verdict{"Content-Length:\r\n", false},
        verdict{"Content-Length: 9223372036854775808\r\n", false},
        verdict{"Content-Length: 18446744073709551616\r\n", false},
        verdict{"Content-Length: 99999999999999999999999999999999999999999\r\n", false},
        verdict{"Content-Length: -1\r\n", false},
        verdict{"Content-Length: +1\r\n", false},
        verdict{"Content-Length: 1.0\r\n", false},
        verdict{"Content-Length: 0x1\r\n", false},
        verdict{"Content-Length: 1 0\r\n", false},
        verdict{"Content-Length: 5, 5\r\n", false},
        verdict{"Content-Length: 5,\r\n", false},
        verdict{"Content-Length: 5\r\nContent-Length: 5\r\n", false},
        verdict{"Content-Length: 5\r\ncontent-length: 6\r\n", false},
        verdict{"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", false},
        verdict{"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", false},
        verdict{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", false},
        verdict{"Transfer-Encoding:\r\n", false},
        verdict{"Transfer-Encoding: identity\r\n", false},
        verdict{"Transfer-Encoding: gzip\r\n", false},
        verdict{"Transfer-Encoding: chunked, gzip\r\n", false},
        verdict{"Transfer-Encoding: chunked, chunked\r\n", false},
        verdict{"Transfer-Encoding: chunked,\r\n", false},
        verdict{"Transfer-Encoding: ,chunked\r\n", false},
        verdict{"Transfer-Encoding: chunked;q=1\r\n", false},
        verdict{"Transfer-Encoding: gzip;q=1, chunked\r\n", false},
        verdict{"Transfer-Encoding: \"chunked\"\r\n", false},
        verdict{"Transfer-Encoding: xchunked\r\n", false},
        verdict{"Transfer-Encoding: gzip chunked\r\n", false},
        verdict{"Transfer-Encoding: gzip, chunked\r\n", false, errc::not_implemented},
        verdict{"Transfer-Encoding: a,b\t,\tCHUNKED\r\n", false, errc::not_implemented},
    };
    for (const auto& row : refused) {
        check("POST / HTTP/1.1\r\nHost: a\r\n" + row.text + "\r\n", row.good, row.code);
    }
    check("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", false, errc::bad_request);
    CHECK(parse("POST / HTTP/1.0\r\nContent-Length: 7\r\n\r\n").content_length == 7);
}

TEST_CASE("a connection is kept in HTTP/1.1 unless one of its Connection options is close")
{
    struct row {
        std::string fields;
        bool kept;
    };
    const std::array rows{
        row{"", true},
        row{"Connection: keep-alive\r\n", true},
        row{"Connection: upgrade, te\r\n", true},
        row{"Connection:\r\n", true},
        row{"Connection: closed\r\n", true},
        row{"Connection: close\r\n", false},
        row{"Connection: CLOSE\r\n", false},
        row{"Connection: keep-alive,\t,Close ,X\r\n", false},
        row{"Connection: X\r\nConnection: close\r\nConnection: Y\r\n", false},
        row{"X-Connection: close\r\n", true},
    };
    for (const auto& [fields, kept] : rows) {
        CAPTURE(fields);
        CHECK(parse(get(fields)).keep_alive == kept);
        CHECK_FALSE(parse("GET / HTTP/1.0\r\nHost: a\r\n" + fields + "\r\n").keep_alive);
    }
    for (const std::string value : {"a b", "close;q=1", "\"close\"", "a, b c", "a/b", "\xFF"}) {
        check(get("Connection: " + value + "\r\n"), false, errc::bad_request);
    }
}

TEST_CASE("a head has at most 32 Connection options, empty ones included")
{
    const auto options = [](std::size_t count, std::string_view each) {
        std::string list{each};
        while (--count > 0) {
            list.append(",").append(each);
        }
        return "Connection: " + list + "\r\n";
    };
    for (const std::string_view each : {"x", ""}) {
        CAPTURE(each);
        check(get(options(32, each)), true, {});
        check(get(options(33, each)), false, errc::bad_request);
        check(get(options(16, each) + options(16, each)), true, {});
        check(get(options(16, each) + options(17, each)), false, errc::bad_request);
    }
}

TEST_CASE("a field that is no list stands once")
{
    for (const std::string name :
         {"Content-Type", "Authorization", "Origin", "Date", "If-Modified-Since", "Proxy-Authorization"}) {
        check(get(name + ": a\r\n"), true, {});
        check(get(name + ": a\r\nX: b\r\n" + name + ": a\r\n"), false, errc::bad_request);
        check(get("content-TYPE: a\r\n" + name + ": a\r\nContent-Type: b\r\n"), false, errc::bad_request);
    }
    for (const std::string name : {"Accept", "Content-Encoding", "Via", "X-Any"}) {
        check(get(name + ": a\r\n" + name + ": b\r\n"), true, {});
    }
}

TEST_CASE("100 Continue is expected only where a body is still to come, and nothing else can be")
{
    struct row {
        std::string version;
        std::string fields;
        bool waits;
    };
    const std::array rows{
        row{"1.1", "Expect: 100-continue\r\nContent-Length: 1\r\n", true},
        row{"1.1", "Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n", true},
        row{"1.1", "Expect: 100-continue\r\nContent-Length: 0\r\n", false},
        row{"1.1", "Expect: 100-continue\r\n", false},
        row{"1.0", "Expect: 100-continue\r\nContent-Length: 1\r\n", false},
        row{"1.1", "Content-Length: 1\r\n", false},
    };
    for (const auto& [version, fields, waits] : rows) {
        CAPTURE(fields);
        std::string bytes = "POST / HTTP/";
        bytes.append(version).append("\r\nHost: a\r\n").append(fields).append("\r\n");
        CHECK(parse(bytes).expect_continue == waits);
    }
    const std::array refused{
        verdict{"Expect: 200-ok\r\n", false, errc::expectation_failed},
        verdict{"Expect:\r\n", false, errc::expectation_failed},
        verdict{"Expect: x 100-continue\r\n", false, errc::expectation_failed},
        verdict{"Expect: 100-continue, 100-continue\r\n", false, errc::expectation_failed},
        verdict{"Expect: 100-continue\r\nExpect: 100-continue\r\n", false, errc::expectation_failed},
    };
    for (const auto& row : refused) {
        check("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n" + row.text + "\r\n", row.good, row.code);
    }
}

TEST_CASE("no refusal repeats what the caller sent")
{
    const std::string secret = "S3cretToken";
    for (const auto& bytes :
         {secret + "\n",
          secret + " / HTTP/1.1\r\n",
          "GET /" + secret + "\n",
          "GET / " + secret + "\r\n",
          "GET / HTTP/1.1\r\n" + secret + "\r\n",
          "GET / HTTP/1.1\r\nX: " + secret + "\n",
          "GET / HTTP/1.1\r\nHost: " + secret + "@\r\n",
          "GET / HTTP/1.1\r\nContent-Length: " + secret + "\r\n",
          "GET / HTTP/1.1\r\nTransfer-Encoding: " + secret + "\r\n",
          "GET / HTTP/1.1\r\nConnection: " + secret + " x\r\n",
          "GET / HTTP/1.1\r\nExpect: " + secret + "\r\n"}) {
        CAPTURE(bytes);
        request_parser parser{{}};
        const auto parsed = parser.parse(bytes);
        REQUIRE(parsed.has_error());
        CHECK(parsed.error().detail.find(secret) == std::string::npos);
        CHECK_FALSE(parsed.error().detail.empty());
    }
}

TEST_SUITE_END();
