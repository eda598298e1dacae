// Heads that an intermediary must refuse, by raw frames (RFC 9113 section 8): what comes of each, in both roles.
#include "tests/unit/net/http2/session_rig.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

TEST_SUITE_BEGIN("net/http2/head_refusals");

namespace {

using namespace tests;
using net::http2::role;

raw::field_lines without(raw::field_lines fields, const std::string& name)
{
    std::erase_if(fields, [&](const auto& each) { return each.first == name; });
    return fields;
}

raw::field_lines with(const std::string& name, const std::string& value)
{
    auto fields = without(raw::get(), name);
    if (name.starts_with(':')) {
        fields.insert(fields.begin(), {name, value});
    } else {
        fields.emplace_back(name, value);
    }
    return fields;
}

struct outcome {
    std::string told;  // of a request; empty: none
    std::string sent;
};

outcome of_request(const std::string& frames)
{
    session_rig rig;
    rig.feed(raw::client_start());
    rig.sent();
    rig.log.clear();
    rig.feed(frames);
    return {rig.log, rig.ends()};
}

const std::string reset = "reset 1 protocol_error\n";

}  // namespace

TEST_CASE("A request that breaks a rule of HTTP/2 is reset, and nobody hears of it")
{
    const std::string nul{'\0'};
    const raw::field_lines rows[] = {
        with("Upper", "x"),
        with("a\rb", "x"),
        with("a\nb", "x"),
        with("a" + nul, "x"),
        with(" a", "x"),
        with("a ", "x"),
        with("a:b", "x"),
        with("", "x"),
        with("a", "x\ry"),
        with("a", "x\ny"),
        with("a", "x" + nul),
        with("a", " x"),
        with("a", "x "),
        with("a", "\tx"),
        with(":unknown", "x"),
        with(":status", "200"),
        with(":protocol", "websocket"),
        with("connection", "close"),
        with("transfer-encoding", "chunked"),
        with("keep-alive", "timeout=5"),
        with("proxy-connection", "close"),
        with("upgrade", "h2c"),
        with("te", "gzip"),
        with("te", "trailers, gzip"),
        with("content-length", "1"),
        with("content-length", "x"),
        with("content-length", "-1"),
        with("content-length", "9223372036854775808"),
        without(raw::get(), ":method"),
        without(raw::get(), ":scheme"),
        without(raw::get(), ":path"),
        without(raw::get(), ":authority"),
        with(":path", ""),
        with(":method", ""),
        with(":method", "G T"),
        with(":path", "/a b"),
        with(":path", "/a\r\nx: y"),
        with(":authority", "a.test\r\nx: y"),
        with(":authority", "a b"),
        {{":method", "GET"}, {":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/"}},
        {{":method", "GET"}, {":scheme", "http"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/"}},
        {{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {":authority", "a.test"}, {":path", "/"}},
        {{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/"}, {":path", "/"}},
        {{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {"a", "b"}, {":path", "/"}},
        raw::get("/", {{"host", "a.test"}, {"host", "a.test"}}),
        raw::get("/", {{"content-length", "0"}, {"content-length", "0"}}),
    };
    for (const auto& fields : rows) {
        CAPTURE(raw::block_of(fields));
        const auto came = of_request(raw::headers_frame(1, fields));
        CHECK(came.told.empty());
        CHECK(came.sent == reset);
    }
}

TEST_CASE("A body that differs from its length resets the stream")
{
    const auto open = raw::headers_frame(1, raw::post("/", {{"content-length", "3"}}), raw::end_headers);
    for (const auto* const body : {"", "ab", "abcd"}) {
        CAPTURE(body);
        CHECK(of_request(open + raw::frame(raw::data, raw::end_stream, 1, body)).sent == reset);
    }
    CHECK(of_request(open + raw::frame(raw::data, raw::end_stream, 1, "abc")).sent.empty());
    CHECK(of_request(open + raw::frame(raw::data, 0, 1, "abcd")).sent == reset);
    CHECK(of_request(open + raw::frame(raw::data, 0, 1, "ab") + raw::headers_frame(1, {{"x", "y"}})).sent == reset);
}

TEST_CASE("Trailers with a pseudo field, or without the end, reset the stream")
{
    const auto open = raw::headers_frame(1, raw::post(), raw::end_headers);
    CHECK(of_request(open + raw::headers_frame(1, {{":path", "/"}})).sent == reset);
    CHECK(of_request(open + raw::headers_frame(1, {{"Upper", "x"}})).sent == reset);
    CHECK(of_request(open + raw::headers_frame(1, {{"a", "b"}}, raw::end_headers)).sent == reset);
    CHECK(of_request(open + raw::headers_frame(1, {{"a", "b"}})).sent.empty());
}

TEST_CASE("A request whose parts no head of HTTP/1.1 can have is answered with 400")
{
    const raw::field_lines rows[] = {
        with(":scheme", "ftp"),
        with(":scheme", "HTTPX"),
        raw::get("/", {{"host", "b.test"}}),
        raw::get("/", {{"host", "a.test:80"}}),
    };
    for (const auto& fields : rows) {
        CAPTURE(raw::block_of(fields));
        const auto came = of_request(raw::headers_frame(1, fields));
        CHECK(came.told == "1: request bad_request\n1: end 0\n");
        CHECK(came.sent.empty());
    }
}

TEST_CASE("A request head is text of HTTP/1.1 with one Host, one Cookie and its framing")
{
    const auto head = [](const raw::field_lines& fields, unsigned flags = raw::end_headers | raw::end_stream) {
        return of_request(raw::headers_frame(1, fields, flags)).told;
    };
    const std::string end = "1: end 0\n";
    CHECK(head(raw::get("/x?y=1")) == "1: request GET /x?y=1 HTTP/1.1\r\nhost: a.test\r\n\r\n\n" + end);
    CHECK(
        head(raw::get("/", {{"host", "A.test"}, {"x", ""}})) ==
        "1: request GET / HTTP/1.1\r\nhost: a.test\r\nx: \r\n\r\n\n" + end
    );
    CHECK(
        head({{":method", "OPTIONS"}, {":scheme", "HTTPS"}, {":path", "*"}, {"a", "b"}, {"host", "h"}}) ==
        "1: request OPTIONS * HTTP/1.1\r\na: b\r\nhost: h\r\n\r\n\n" + end
    );
    CHECK(
        head(raw::get("/", {{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}})) ==
        "1: request GET / HTTP/1.1\r\nhost: a.test\r\nx: y\r\ncookie: a=1; b=2\r\n\r\n\n" + end
    );
    CHECK(
        head(raw::post(), raw::end_headers) ==
        "1: request POST / HTTP/1.1\r\nhost: a.test\r\ntransfer-encoding: chunked\r\n\r\n\n"
    );
    CHECK(
        head(raw::post("/", {{"content-length", "3"}}), raw::end_headers) ==
        "1: request POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 3\r\n\r\n\n"
    );
    CHECK(
        head({{":method", "CONNECT"}, {":authority", "a.test:1"}}) ==
        "1: request CONNECT * HTTP/1.1\r\nhost: a.test:1\r\n\r\n\n" + end
    );
}

TEST_CASE("An agent's head that breaks a rule of HTTP/2 resets its stream as our fault to answer")
{
    const raw::field_lines rows[] = {
        {{":status", "200"}, {"Upper", "x"}},
        {{":status", "200"}, {"a\r", "x"}},
        {{":status", "200"}, {"a", "x\ny"}},
        {{":status", "200"}, {"a", " x"}},
        {{":status", "200"}, {"a:b", "x"}},
        {{":status", "200"}, {":status", "200"}},
        {{":status", "200"}, {":path", "/"}},
        {{":status", "200"}, {"connection", "close"}},
        {{":status", "200"}, {"transfer-encoding", "chunked"}},
        {{":status", "200"}, {"keep-alive", "timeout=5"}},
        {{":status", "200"}, {"upgrade", "h2c"}},
        {{":status", "200"}, {"content-length", "1"}},
        {{":status", "200"}, {"content-length", "0"}, {"content-length", "0"}},
        {{":status", "101"}},
        {{":status", "20"}},
        {{":status", "2000"}},
        {{":status", "x00"}},
        {{"a", "b"}},
        {{"a", "b"}, {":status", "200"}},
    };
    for (const auto& fields : rows) {
        CAPTURE(raw::block_of(fields));
        session_rig rig{{.as = role::client}};
        recorded_stream call{rig.log, "call"};
        REQUIRE(rig.session.request("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", call, true).value() == 1);
        rig.session.output().clear();
        rig.feed(raw::settings_frame());
        rig.log.clear();
        rig.feed(raw::headers_frame(1, fields));
        rig.session.produce(0);
        CHECK(rig.log == "call: closed protocol_error by us\n");
    }
}

TEST_SUITE_END();
