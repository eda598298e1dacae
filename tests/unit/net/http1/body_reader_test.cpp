#include "net/http1/body_reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("net/http1/body_reader");

namespace {

using core::errc;
using net::http1::body_reader;
using net::http1::framing;

// What of `received` belongs to the body, read until it is done or all is used, and what is behind it.
struct read_body {
    std::string data;
    std::string_view rest;
};

read_body read(body_reader& body, std::string_view received)
{
    read_body read;
    while (!received.empty() && !body.done()) {
        const auto piece = body.take(received);
        REQUIRE(piece.has_value());
        read.data += piece->data;
        received.remove_prefix(piece->used);
    }
    read.rest = received;
    return read;
}

}  // namespace

TEST_CASE("An answer without a body is done before anything came")
{
    CHECK(body_reader{}.done());
    CHECK(body_reader{framing::none, 0}.done());
    CHECK(body_reader{framing::length, 0}.done());
    CHECK_FALSE(body_reader{framing::length, 1}.done());
    CHECK_FALSE(body_reader{framing::chunked, 0}.done());
    CHECK_FALSE(body_reader{framing::until_close, 0}.done());
}

TEST_CASE("A body with a length ends after so many bytes, and what follows is not used")
{
    body_reader body{framing::length, 5};
    CHECK(read(body, "ab").data == "ab");
    CHECK_FALSE(body.done());
    const auto last = read(body, "cdefg");
    CHECK(last.data == "cde");
    CHECK(last.rest == "fg");
    CHECK(body.done());
}

TEST_CASE("A chunked body gives its data without its framing, however it is split")
{
    constexpr std::string_view coded = "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nField: x\r\n\r\n";
    for (std::size_t step = 1; step <= coded.size(); ++step) {
        CAPTURE(step);
        body_reader body{framing::chunked, 0};
        std::string data;
        for (std::size_t at = 0; at < coded.size(); at += step) {
            CHECK_FALSE(body.done());
            data += read(body, coded.substr(at, step)).data;
        }
        CHECK(data == "abcde");
        CHECK(body.done());
    }
}

TEST_CASE("A chunk announces its bytes before they come")
{
    body_reader body{framing::chunked, 0};
    CHECK(read(body, "ff").data.empty());
    CHECK(body.announced() == 0);
    CHECK(read(body, "\r\n").data.empty());
    CHECK(body.announced() == 255);
    CHECK(read(body, "abc").data == "abc");
    CHECK(body.announced() == 252);
}

TEST_CASE("A fault in the chunked coding is the agent's")
{
    body_reader body{framing::chunked, 0};
    const auto piece = body.take("zz\r\n");
    REQUIRE_FALSE(piece.has_value());
    CHECK(piece.error().code == errc::upstream_protocol);
    CHECK(piece.error().from == core::side::upstream);
    CHECK(piece.error().detail.starts_with("chunk: "));
}

TEST_CASE("Only a body without length and chunks ends with the connection, if that ends in order")
{
    body_reader open{framing::until_close, 0};
    CHECK(read(open, "abc").data == "abc");
    CHECK_FALSE(open.done());
    CHECK(open.end(/*in_order=*/true, "the end").has_value());
    CHECK(open.done());

    for (const auto how : {framing::length, framing::chunked}) {
        body_reader cut{how, 5};
        const auto ended = cut.end(/*in_order=*/true, "the end");
        REQUIRE_FALSE(ended.has_value());
        CHECK(ended.error().code == errc::upstream_reset);
        CHECK_FALSE(cut.done());
    }
    body_reader broken{framing::until_close, 0};
    const auto ended = broken.end(/*in_order=*/false, "reset");
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().code == errc::upstream_reset);
    CHECK_FALSE(broken.done());
}

TEST_SUITE_END();
