#include "net/http1/chunked.hpp"

#include "tests/unit/net/http1/outcome.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>

using namespace net::http1;
using core::errc;
using tests::read_chunked;

namespace {

std::string body(const std::string& size_line)
{
    return size_line + "\r\nhello\r\n0\r\n\r\n";
}

std::string end(const std::string& trailers)
{
    return "5\r\nhello\r\n0\r\n" + trailers + "\r\n";
}

void check_whole(const std::string& bytes, std::string_view data, chunk_limits limits = {})
{
    CAPTURE(bytes);
    const auto outcome = read_chunked(bytes, {}, limits);
    CHECK(outcome.end == "over");
    CHECK(outcome.data == data);
    CHECK(outcome.consumed == bytes.size());
}

void check_refused(const std::string& bytes, errc code = errc::bad_request, chunk_limits limits = {})
{
    CAPTURE(bytes);
    CHECK(read_chunked(bytes, {}, limits).end.starts_with(core::name(code)));
}

}  // namespace

TEST_SUITE_BEGIN("net/http1/chunked");

TEST_CASE("a chunked body is given without its coding, and ends where the next message begins")
{
    check_whole("0\r\n\r\n", "");
    check_whole("5\r\nhello\r\n0\r\n\r\n", "hello");
    check_whole("5\r\nhello\r\n7\r\n, world\r\n00\r\n\r\n", "hello, world");
    check_whole("2\r\n\r\n\r\n0\r\n\r\n", "\r\n");
    const auto outcome = read_chunked("1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n");
    CHECK(outcome.end == "over");
    CHECK(outcome.consumed == 11);
}

TEST_CASE("a decoder that has finished takes nothing more")
{
    chunked_decoder decoder;
    CHECK_FALSE(decoder.finished());
    REQUIRE(decoder.decode("0\r\n\r\n").has_value());
    CHECK(decoder.finished());
    const auto more = decoder.decode("0\r\n\r\n");
    REQUIRE(more.has_value());
    CHECK(more->consumed == 0);
    CHECK(more->data.empty());
    CHECK(more->finished);
}

TEST_CASE("each step gives one view into its input")
{
    const std::string_view bytes = "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    chunked_decoder decoder;
    const auto first = decoder.decode(bytes);
    REQUIRE(first.has_value());
    CHECK(first->consumed == 6);
    CHECK(first->data.data() == bytes.data() + 3);
    CHECK(first->data == "abc");
    const auto second = decoder.decode(bytes.substr(6));
    REQUIRE(second.has_value());
    CHECK(second->consumed == 7);
    CHECK(second->data.data() == bytes.data() + 11);
    CHECK(second->data == "de");
    CHECK_FALSE(second->finished);
    const auto third = decoder.decode(bytes.substr(13));
    REQUIRE(third.has_value());
    CHECK(third->consumed == 7);
    CHECK(third->data.empty());
    CHECK(third->finished);
    REQUIRE(chunked_decoder{}.decode("").has_value());
}

TEST_CASE("a chunk size is 1 to 16 hexadecimal digits below 2^63")
{
    for (const std::string size : {"5", "05", "000000000000005", "0000000000000005"}) {
        check_whole(body(size), "hello");
    }
    check_whole("a\r\n0123456789\r\n0\r\n\r\n", "0123456789");
    check_whole("0A\r\n0123456789\r\n0\r\n\r\n", "0123456789");
    check_whole("1f\r\n" + std::string(31, 'x') + "\r\n0000000000000000\r\n\r\n", std::string(31, 'x'));
    for (const std::string size :
         {"",
          " 5",
          "5 ",
          "\t5",
          "+5",
          "-5",
          "0x5",
          "5_0",
          "5g",
          "g",
          "5,5",
          "5.",
          "00000000000000005",
          "8000000000000000",
          "ffffffffffffffff",
          "10000000000000000",
          "11111111111111111111111"}) {
        check_refused(body(size));
    }
    chunked_decoder decoder;
    const auto step = decoder.decode("7fffffffffffffff\r\nabc");
    REQUIRE(step.has_value());
    CHECK(step->data == "abc");
    CHECK_FALSE(step->finished);
}

TEST_CASE("lines end in CRLF and nothing else")
{
    for (const std::string bytes :
         {"5\nhello\r\n0\r\n\r\n",
          "5\r\nhello\n0\r\n\r\n",
          "5\r\nhello\r\r\n0\r\n\r\n",
          "5\r\r\nhello\r\n0\r\n\r\n",
          "5\r\r;a\r\nhello\r\n0\r\n\r\n",
          "5\r\nhelloXX0\r\n\r\n",
          "5\r\nhelloX\n0\r\n\r\n",
          "5\r\nhelloworld\r\n0\r\n\r\n",
          "5\r\nhello0\r\n\r\n",
          "5\r\nhello\r\n\r\n0\r\n\r\n",
          "5\r\nhello\r\n0\n\r\n",
          "5\r\nhello\r\n0\r\n\n",
          "5\r\nhello\r\n0\r\n\rX",
          "5\r\nhello\r\n0\r\n\r\r\n",
          "\r\n\r\n"}) {
        check_refused(bytes);
    }
}

TEST_CASE("extensions are checked against the grammar and dropped")
{
    for (const std::string extension :
         {";a",
          ";a=b",
          ";a;b=c;d",
          ";a=\"\"",
          ";a=\"b c\t;=\xE2\x82\xAC\"",
          ";a=\"\\\"\\\\\\x\";b",
          ";!#$%&'*+-.^_`|~=1"}) {
        check_whole(body("5" + extension), "hello");
        check_whole("5\r\nhello\r\n0" + extension + "\r\n\r\n", "hello");
    }
    for (const std::string extension :
         {";",         ";;",        ";=b",     ";a=",         ";a=;b",     ";a==b",       ";a=b=c",
          " ;a",       "; a",       ";a ",     ";a =b",       ";a= b",     ";a=b ",       ";a=\"b",
          ";a=\"b\"c", ";a=b\"c\"", ";a\"b\"", ";a=\"\x7f\"", ";a=\"\n\"", ";a=\"\\\n\"", ";a=\"\r\n\"",
          ";a\nb",     ";a=b\nc",   ";a=b,c",  ";\x80",       ";a=\x80"}) {
        check_refused(body("5" + extension));
    }
    check_refused(body(std::string{"5;a=\"\0\"", 7}));
    check_refused(body(std::string{"5;a=\"\\\0\"", 8}));
}

TEST_CASE("a size line may be as long as the limit and no longer")
{
    const auto line = [](std::size_t length) { return "5;" + std::string(length - 2, 'x'); };
    for (const std::size_t limit : {std::size_t{20}, std::size_t{256}}) {
        const chunk_limits limits{.line = limit};
        check_whole(body(line(limit - 1)), "hello", limits);
        check_whole(body(line(limit)), "hello", limits);
        check_refused(body(line(limit + 1)), errc::bad_request, limits);
        check_refused(line(limit + 1), errc::bad_request, limits);
    }
    check_refused(body(line(9 * 1024)));
    check_whole(body("00005"), "hello", {.line = 5});
    check_refused(body("000005"), errc::bad_request, {.line = 5});
}

TEST_CASE("the extensions of a body together are limited exactly")
{
    const auto chunks = [](std::size_t extensions) {
        std::string bytes;
        for (; extensions > 10; extensions -= 10) {
            bytes += "1;234567890\r\nx\r\n";
        }
        return bytes + "1;" + std::string(extensions - 1, 'y') + "\r\nx\r\n0\r\n\r\n";
    };
    const chunk_limits limits{.extensions = 100};
    CHECK(read_chunked(chunks(99), {}, limits).end == "over");
    CHECK(read_chunked(chunks(100), {}, limits).end == "over");
    check_refused(chunks(101), errc::bad_request, limits);
    CHECK(read_chunked(chunks(4096)).end == "over");
    check_refused(chunks(4097));
}

TEST_CASE("trailer fields are checked like fields and dropped")
{
    for (const std::string trailers :
         {"X: a\r\n",
          "X:\r\n",
          "X:a\r\nY: \tb\xC3\xA4 \r\n",
          "Content-Length: 30\r\nTransfer-Encoding: chunked\r\nHost: evil\r\n"}) {
        check_whole(end(trailers), "hello");
    }
    for (const std::string trailers :
         {"Bad Trailer\r\n",
          "X\r\n",
          ":a\r\n",
          "X : a\r\n",
          " X: a\r\n",
          "X: a\r\n b\r\n",
          "X: a\n",
          "X: a\rb\r\n",
          "X: \x7f\r\n",
          "X\x80: a\r\n",
          "\n"}) {
        check_refused(end(trailers));
    }
    check_refused(end(std::string{"X: \0\r\n", 6}));
}

TEST_CASE("the trailer section is limited exactly, in bytes and in fields")
{
    const auto line = [](std::size_t length) { return "X:" + std::string(length - 4, 'x') + "\r\n"; };
    check_whole(end(line(99)), "hello", {.trailers = 100});
    check_whole(end(line(100)), "hello", {.trailers = 100});
    check_refused(end(line(101)), errc::header_too_large, {.trailers = 100});
    check_whole(end(line(50) + line(50)), "hello", {.trailers = 100});
    check_refused(end(line(50) + line(51)), errc::header_too_large, {.trailers = 100});
    check_whole(end(line(4096)), "hello");
    check_refused(end(line(4097)), errc::header_too_large);

    const auto fields = [](unsigned count) {
        std::string text;
        for (; count > 0; --count) {
            text += "X:\r\n";
        }
        return text;
    };
    check_whole(end(fields(99)), "hello");
    check_whole(end(fields(100)), "hello");
    check_refused(end(fields(101)), errc::header_too_large);
    check_refused(end(fields(100)).substr(0, 13 + 400) + "X", errc::header_too_large);
}

TEST_CASE("what a chunk announces is known once its size line is over, and goes down with its data")
{
    net::http1::chunked_decoder decoder;
    struct row {
        std::string_view bytes;
        std::uint64_t left;
    };
    for (const auto& r :
         {row{"7fffffffffffffff", 0}, row{"\r", 0}, row{"\n", 0x7fffffffffffffff}, row{"abc", 0x7fffffffffffffff - 3}
         }) {
        CAPTURE(r.bytes);
        const auto step = decoder.decode(r.bytes);
        REQUIRE(step.has_value());
        CHECK(step->consumed == r.bytes.size());
        CHECK(decoder.chunk_left() == r.left);
    }
    decoder = net::http1::chunked_decoder{};
    REQUIRE(decoder.decode("2;x=y\r\nab").has_value());
    CHECK(decoder.chunk_left() == 0);
    REQUIRE(decoder.decode("\r\n0\r\n\r\n").has_value());
    CHECK(decoder.finished());
    CHECK(decoder.chunk_left() == 0);
}

TEST_CASE("what the encoder writes is what the decoder reads")
{
    CHECK(chunk_header{0}.text() == "0\r\n");
    CHECK(chunk_header{10}.text() == "a\r\n");
    CHECK(chunk_header{255}.text() == "ff\r\n");
    CHECK(chunk_header{4096}.text() == "1000\r\n");
    CHECK(chunk_header{std::numeric_limits<std::size_t>::max()}.text() == "ffffffffffffffff\r\n");
    std::string bytes;
    std::string data;
    for (const std::size_t size : {1U, 2U, 9U, 10U, 15U, 16U, 17U, 255U, 256U, 4095U, 4096U, 70000U}) {
        const std::string piece(size, static_cast<char>('a' + size % 26));
        const chunk_header header{size};
        bytes += header.text();
        bytes += piece;
        bytes += chunk_end;
        data += piece;
    }
    bytes += last_chunk;
    check_whole(bytes, data);
}

TEST_SUITE_END();
