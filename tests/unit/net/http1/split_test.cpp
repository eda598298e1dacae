#include "tests/unit/net/http1/outcome.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace net::http1;

namespace {

const std::vector<std::string>& request_heads()
{
    static const std::vector<std::string> heads{
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\n\r\nPOST /agents/a?b=%20c HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 5\r\nX: \t y \r\n\r\nhello",
        "PUT http://a/b%41 HTTP/1.1\r\nhost: A\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n0",
        "OPTIONS http://gw.test HTTP/1.1\r\nHost: gw.test\r\nConnection: a, close\r\n\r\n",
        "GET http://gw.test/ HTTP/1.1\r\nX-First: 1\r\nHost: evil.test\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nExpect: it\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\rX\r\n\r\n",
        "GET /%4",
        "GET /%zz HTTP/1.1\r\n\r\n",
        "GET /[ HTTP/1.1\r\n\r\n",
        "GET * HTTP/1.1\r\n\r\n",
        "GETS / HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\rX",
        "\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02",
        "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\n\r\n",
        "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%41 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(200, 'x') + "\r\n\r\n",
    };
    return heads;
}

const std::vector<std::string>& response_heads()
{
    static const std::vector<std::string> heads{
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\nConnection: x, close\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 a \xC3\xA4\tb\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200\r\n\r\n",
        "HTTP/1.1 1000 X\r\n\r\n",
        "HTTP/1.1 200 O\nX: a\n\n",
        "HTTP/1.1 200 O\rK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: " + std::string(200, 'x') + "\r\n\r\n",
    };
    return heads;
}

const std::vector<std::string>& chunked_bodies()
{
    static const std::vector<std::string> bodies{
        "0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\nGET /",
        "5;a=b;c=\"d \\\" e\"\r\nhello\r\n0a\r\n0123456789\r\n000;x\r\nT: 1\r\nU:\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\nhello",
        "5\r\nhelloX",
        "5\r\nhello\rX",
        "5;a=\"\n",
        "5;=\r\n",
        "8000000000000000\r\n",
        "00000000000000000\r\n",
        "1\r\na\r\n0\r\nBad Trailer\r\n\r\n",
        "1\r\na\r\n0\r\nT: 1\n",
        "1\r\na\r\n0\r\n\rX",
        "1\r\na\r\n0\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n",
        "1\r\na\r\n0\r\nA: " + std::string(60, 'x') + "\r\n\r\n",
        "1;" + std::string(40, 'x') + "\r\na\r\n",
    };
    return bodies;
}

// Every way to arrive in one or two pieces, and byte by byte, must read as `whole` does.
template <class Read>
void check_splits(const std::string& bytes, Read read)
{
    CAPTURE(bytes);
    const auto whole = read(tests::cuts{});
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        CAPTURE(cut);
        REQUIRE(read(tests::cuts{cut}) == whole);
    }
    REQUIRE(read(tests::every_byte(bytes)) == whole);
}

constexpr std::array where{tests::buffer::moving, tests::buffer::still};

}  // namespace

TEST_SUITE_BEGIN("net/http1/split");

TEST_CASE("a request head reads the same however it is cut")
{
    for (const auto& bytes : request_heads()) {
        for (const auto place : where) {
            for (const auto& limits : {head_limits{}, head_limits{.bytes = 100, .fields = 5, .target = 40}}) {
                check_splits(bytes, [&](const tests::cuts& cuts) {
                    return tests::read_request(bytes, cuts, place, limits);
                });
            }
        }
    }
}

TEST_CASE("a request head reads the same in any three pieces")
{
    for (const std::size_t chosen : {1U, 2U, 12U}) {
        const auto& bytes = request_heads()[chosen];
        const auto whole = tests::read_request(bytes);
        for (std::size_t first = 1; first < bytes.size(); ++first) {
            for (std::size_t second = first + 1; second < bytes.size(); ++second) {
                REQUIRE(tests::read_request(bytes, {first, second}, tests::buffer::still) == whole);
            }
        }
    }
}

TEST_CASE("a request head reads the same under every limit of bytes, however it is cut")
{
    for (const auto& bytes : request_heads()) {
        for (std::size_t limit = 1; limit <= bytes.size(); ++limit) {
            const head_limits limits{.bytes = limit, .fields = 4, .target = limit / 2};
            const auto whole = tests::read_request(bytes, {}, tests::buffer::moving, limits);
            REQUIRE(tests::read_request(bytes, tests::every_byte(bytes), tests::buffer::still, limits) == whole);
        }
    }
}

TEST_CASE("a response head reads the same however it is cut")
{
    for (const auto& bytes : response_heads()) {
        for (const auto place : where) {
            for (const auto to : {method::get, method::head}) {
                for (const auto& limits : {head_limits{}, head_limits{.bytes = 100, .fields = 5}}) {
                    check_splits(bytes, [&](const tests::cuts& cuts) {
                        return tests::read_response(bytes, to, cuts, place, limits);
                    });
                }
            }
        }
    }
}

TEST_CASE("a chunked body reads the same however it is cut")
{
    for (const auto& bytes : chunked_bodies()) {
        for (const auto& limits :
             {chunk_limits{}, chunk_limits{.line = 20, .extensions = 15, .trailers = 50, .trailer_fields = 3}}) {
            check_splits(bytes, [&](const tests::cuts& cuts) {
                const auto outcome = tests::read_chunked(bytes, cuts, limits);
                return outcome.data + "|" + outcome.end + "|" + std::to_string(outcome.consumed);
            });
        }
    }
}

TEST_SUITE_END();
