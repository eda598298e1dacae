#include "core/ascii.hpp"
#include "tests/unit/net/http1/outcome.hpp"
#include "tests/unit/net/http1/request_heads.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace net::http1;
using namespace http1_test;
using core::errc;

TEST_SUITE_BEGIN("net/http1/request head");

TEST_CASE("a request head is given as it was sent, field by field")
{
    const std::string bytes =
        "POST /agents/a?x=/../b HTTP/1.1\r\nHost: gw.test:4000\r\nContent-Length: 12\r\nX-A:1\r\nX-Empty:\r\n"
        "X-B: \t two  words\t \r\nx-a: 2\r\n\r\n";
    const auto head = parse(bytes);
    CHECK(head.verb == method::post);
    CHECK(head.target == "/agents/a?x=/../b");
    CHECK(head.authority == "gw.test:4000");
    CHECK(head.minor_version == 1);
    CHECK(head.body == framing::length);
    CHECK(head.content_length == 12);
    CHECK(head.keep_alive);
    CHECK_FALSE(head.expect_continue);
    REQUIRE(head.fields.size() == 6);
    CHECK(head.fields[0].id == field_name::host);
    CHECK(head.fields[1].id == field_name::content_length);
    CHECK(head.fields[2].name == "X-A");
    CHECK(head.fields[2].value == "1");
    CHECK(head.fields[3].value.empty());
    CHECK(head.fields[4].value == "two  words");
    CHECK(head.fields[5].name == "x-a");
    CHECK(head.fields[5].value == "2");
}

TEST_CASE("Each byte at each place of a long field name passes if it is of a token")
{
    for (std::size_t length : {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17}, std::size_t{33}}) {
        for (std::size_t place = 0; place < length; ++place) {
            for (unsigned byte = 0; byte < 256; ++byte) {
                const auto odd = static_cast<char>(byte);
                std::string name(length, 'n');
                name[place] = odd;
                request_parser parser{{}};
                const auto text = "GET / HTTP/1.1\r\nHost: a\r\n" + name + ": value\r\n\r\n";
                const auto parsed = parser.parse(text);
                const bool whole = parsed.has_value() && *parsed > 0;
                // A colon ends the name before it, if there is one.
                const bool expected = core::is_token_byte(odd) || (odd == ':' && place > 0);
                CAPTURE(length);
                CAPTURE(place);
                CAPTURE(byte);
                REQUIRE(whole == expected);
                if (core::is_token_byte(odd)) {
                    REQUIRE(parser.head().fields.back().name == name);
                }
            }
        }
    }
}

TEST_CASE("the length of a head ends where the next message begins")
{
    const std::string one = "\r\n" + get("");
    request_parser parser{{}};
    for (int round = 0; round < 3; ++round) {
        const auto parsed = parser.parse(one + "GET / HTTP");
        REQUIRE(parsed.has_value());
        CHECK(*parsed == one.size());
        CHECK(parser.head().fields.size() == 1);
        parser.reset();
        CHECK(parser.head().fields.empty());
    }
}

TEST_CASE("a reset parser knows nothing of the message before")
{
    request_parser parser{{}};
    const std::string first = "POST http://gw.test/a HTTP/1.0\r\nHost: gw.test\r\nContent-Length: 5\r\n\r\n";
    const std::string second = "GET / HTTP/1.0\r\n\r\n";
    REQUIRE(parser.parse(first).has_value());
    parser.reset();
    REQUIRE(parser.parse(second).has_value());
    CHECK(tests::describe(parser.head()) == "GET / at  HTTP/1.0 body 0 of 0 closed");
    parser.reset();
    REQUIRE(parser.parse("GET / HTTP/1.1\r\nHost: [").has_value());
    parser.reset();
    REQUIRE(parser.parse("X").has_value());
    parser.reset();
    REQUIRE(parser.parse("\x16").has_error());
    parser.reset();
    REQUIRE(parser.parse(second).has_value());
    CHECK(tests::describe(parser.head()) == "GET / at  HTTP/1.0 body 0 of 0 closed");
}

TEST_CASE("the methods are told apart by case, and others are not implemented")
{
    for (const auto verb :
         {method::get, method::head, method::post, method::put, method::patch, method::delete_, method::options}) {
        CHECK(parse(std::string{name(verb)} + " / HTTP/1.1\r\nHost: a\r\n\r\n").verb == verb);
    }
    const std::array verdicts{
        verdict{"get", false, errc::not_implemented},
        verdict{"Get", false, errc::not_implemented},
        verdict{"GE", false, errc::not_implemented},
        verdict{"GETS", false, errc::not_implemented},
        verdict{"TRACE", false, errc::not_implemented},
        verdict{"CONNECT", false, errc::not_implemented},
        verdict{"PROPFIND", false, errc::not_implemented},
        verdict{"!#$%&'*+-.^_`|~", false, errc::not_implemented},
        verdict{std::string(32, 'M'), false, errc::not_implemented},
        verdict{std::string(33, 'M'), false, errc::not_implemented},
        verdict{"", false},
        verdict{"G(T", false},
        verdict{"G\"T", false},
        verdict{"GET\t", false},
        verdict{"\xC3\x89", false},
    };
    for (const auto& row : verdicts) {
        check(row.text + " / HTTP/1.1\r\nHost: a\r\n\r\n", row.good, row.code);
    }
}

TEST_CASE("a request line of an unknown method must still be a request line")
{
    check("CONNECT a.test:22 HTTP/1.1\r\nHost: a\r\n\r\n", false, errc::not_implemented);
    check("CONNECT [::1]:22 HTTP/1.1\r\nHost: a\r\n\r\n", false, errc::not_implemented);
    check("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false, errc::http_version_not_supported);
    check("TRACE  / HTTP/1.1\r\n", false, errc::bad_request);
    check("TRACE / HTTP/1.1\n", false, errc::bad_request);
    check("TRACE /\x01 HTTP/1.1\r\n", false, errc::bad_request);
}

TEST_CASE("only HTTP/1.0 and HTTP/1.1 are spoken")
{
    const std::array verdicts{
        verdict{"HTTP/1.1"},
        verdict{"HTTP/1.0"},
        verdict{"HTTP/1.2", false, errc::http_version_not_supported},
        verdict{"HTTP/1.9", false, errc::http_version_not_supported},
        verdict{"HTTP/0.9", false, errc::http_version_not_supported},
        verdict{"HTTP/2.0", false, errc::http_version_not_supported},
        verdict{"HTTP/9.9", false, errc::http_version_not_supported},
        verdict{"HTTP/1.10", false},
        verdict{"HTTP/11.1", false},
        verdict{"HTTP/1.", false},
        verdict{"HTTP/1", false},
        verdict{"HTTP/ 1.1", false},
        verdict{"HTTP/1.1 ", false},
        verdict{" HTTP/1.1", false},
        verdict{"http/1.1", false},
        verdict{"HTTPS/1.1", false},
        verdict{"", false},
    };
    for (const auto& row : verdicts) {
        check("GET / " + row.text + "\r\nHost: a\r\n\r\n", row.good, row.code);
    }
    check("GET /\r\n\r\n", false, errc::bad_request);
}

TEST_CASE("the request target has the form that its method takes")
{
    const std::array verdicts{
        verdict{"/"},
        verdict{"//evil.test/a"},
        verdict{"/a/../b/./c"},
        verdict{"/a%2Fb%2e%00?q=%ff"},
        verdict{"/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?"},
        verdict{"*", false},
        verdict{"a", false},
        verdict{"gw.test:80", false},
        verdict{"h", false},
        verdict{"http://", false},
        verdict{"http:/gw.test/", false},
        verdict{"ftp://gw.test/", false},
        verdict{"/a#b", false},
        verdict{"/a\\b", false},
        verdict{"/a[1]", false},
        verdict{"/a%", false},
        verdict{"/a%4", false},
        verdict{"/a%4 0", false},
        verdict{"/a%g0", false},
        verdict{"/a%0g", false},
        verdict{"/a b", false},
        verdict{"/a\t", false},
        verdict{"", false},
    };
    for (const auto& row : verdicts) {
        check("GET " + row.text + " HTTP/1.1\r\nHost: gw.test\r\n\r\n", row.good, row.code);
    }
    CHECK(parse("OPTIONS * HTTP/1.1\r\nHost: gw.test\r\n\r\n").target == "*");
    check("OPTIONS ** HTTP/1.1\r\nHost: gw.test\r\n\r\n", false, errc::bad_request);
    check("OPTIONS */ HTTP/1.1\r\nHost: gw.test\r\n\r\n", false, errc::bad_request);
}

TEST_CASE("an absolute-form target that names Host is reduced to origin-form")
{
    struct row {
        std::string line;
        std::string host;
        std::string target;  // empty if refused
    };
    const std::array rows{
        row{"GET http://gw.test/a?b", "gw.test", "/a?b"},
        row{"GET HTTPS://GW.test:4000/a", "gw.TEST:4000", "/a"},
        row{"GET http://gw.test", "gw.test", "/"},
        row{"OPTIONS http://gw.test", "gw.test", "*"},
        row{"OPTIONS http://gw.test/", "gw.test", "/"},
        row{"GET http://[::1]:80/a", "[::1]:80", "/a"},
        row{"GET http://gw.test//a", "gw.test", "//a"},
        row{"GET http://gw.test:80/a", "gw.test", ""},
        row{"GET http://evil.test/a", "gw.test", ""},
        row{"GET http://gw.test.evil/a", "gw.test", ""},
        row{"GET http://u@gw.test/a", "gw.test", ""},
        row{"GET http://gw.test?b", "gw.test", ""},
        row{"GET http://gw.test/[1]", "gw.test", ""},
        row{"GET http:///a", "gw.test", ""},
        row{"GET http://gw.test/a%zz", "gw.test", ""},
    };
    for (const auto& [line, host, target] : rows) {
        auto bytes = line;
        bytes.append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n\r\n");
        if (target.empty()) {
            check(bytes, false, errc::bad_request);
        } else {
            const auto head = parse(bytes);
            CHECK(head.target == target);
            CHECK(head.authority == host);
        }
    }
    check("GET http://gw.test/a HTTP/1.0\r\n\r\n", false, errc::bad_request);
    check("GET http://gw.test/a HTTP/1.1\r\n\r\n", false, errc::bad_request);
}

TEST_CASE("Host is one host with an optional port")
{
    const std::array verdicts{
        verdict{"gw.test"},
        verdict{"a"},
        verdict{"127.0.0.1:4000"},
        verdict{"gw.test:"},
        verdict{"gw.test:0"},
        verdict{"gw.test:65535"},
        verdict{"agent_one"},
        verdict{"[::]"},
        verdict{"[::1]:80"},
        verdict{"[1:2:3:4:5:6:7:8]"},
        verdict{"[1:2:3:4:5:6:7::]"},
        verdict{"[::2:3:4:5:6:7:8]"},
        verdict{"[fe80::aBcD]"},
        verdict{"[::ffff:127.0.0.1]"},
        verdict{"[1:2:3:4:5:6:127.0.0.1]"},
        verdict{"gw.test:65536", false},
        verdict{"gw.test:000080", false},
        verdict{"gw.test:80a", false},
        verdict{"gw.test:-1", false},
        verdict{"gw.test:80:80", false},
        verdict{":80", false},
        verdict{"", false},
        verdict{"gw.test/", false},
        verdict{"u@gw.test", false},
        verdict{"gw.test,evil.test", false},
        verdict{"gw.test evil.test", false},
        verdict{"gw%2etest", false},
        verdict{"gw.test\xE2\x82\xAC", false},
        verdict{"::1", false},
        verdict{"[]", false},
        verdict{"[::1", false},
        verdict{"[::1]a", false},
        verdict{"[::1]]", false},
        verdict{"[:1]", false},
        verdict{"[1:]", false},
        verdict{"[:::]", false},
        verdict{"[:1:2:3:4:5:6:7]", false},
        verdict{"[1:2:3:4:5:6:7:]", false},
        verdict{"[1::2::3]", false},
        verdict{"[1:2:3:4:5:6:7]", false},
        verdict{"[1:2:3:4:5:6:7:8:9]", false},
        verdict{"[1:2:3:4:5:6:7:8::]", false},
        verdict{"[12345::]", false},
        verdict{"[::g]", false},
        verdict{"[fe80::1%eth0]", false},
        verdict{"[v1.a]", false},
        verdict{"[127.0.0.1]", false},
        verdict{"[::127.0.0.256]", false},
        verdict{"[::127.0.1]", false},
        verdict{"[::127.0.0.1.1]", false},
        verdict{"[::127.0.0.01]", false},
        verdict{"[1:2:3:4:5:6:7:127.0.0.1]", false},
    };
    for (const auto& row : verdicts) {
        check("GET / HTTP/1.1\r\nHost: " + row.text + "\r\n\r\n", row.good, row.code);
        check("GET / HTTP/1.0\r\nHost: " + row.text + "\r\n\r\n", row.good, row.code);
    }
    check("GET / HTTP/1.1\r\n\r\n", false, errc::bad_request);
    check("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", false, errc::bad_request);
    check("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", false, errc::bad_request);
    CHECK(parse("GET / HTTP/1.0\r\n\r\n").authority.empty());
}

TEST_CASE("a byte is allowed in a part of the head exactly as the grammar says")
{
    const auto in = [](int byte, std::string_view set) {
        return byte > 0 && byte < 128 && set.find(static_cast<char>(byte)) != std::string_view::npos;
    };
    const std::string alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        const bool token = in(byte, alphanumeric + "!#$%&'*+-.^_`|~");
        const bool value = byte == '\t' || (byte >= ' ' && byte != 0x7f);
        const bool path = in(byte, alphanumeric + "-._~!$&'()*+,;=:@/?");
        const bool host = in(byte, alphanumeric + "-._~");
        check(get("X" + text + "Y: 1\r\n"), token || byte == ':', errc::bad_request);
        check(get(text + ": 1\r\n"), token, errc::bad_request);
        check(get("X: a" + text + "b\r\n"), value, errc::bad_request);
        check("GET /a" + text + "b HTTP/1.1\r\nHost: gw.test\r\n\r\n", path, errc::bad_request);
        check("GET / HTTP/1.1\r\nHost: a" + text + "b\r\n\r\n", host, errc::bad_request);
        const bool port = byte >= '0' && byte <= '9';
        check("GET / HTTP/1.1\r\nHost: a:1" + text + "\r\n\r\n", port || in(byte, "\t "), errc::bad_request);
    }
}

TEST_CASE("a byte in a long field value is judged the same wherever it stands")
{
    constexpr std::size_t length = 100;  // more than six blocks that are read at once
    for (int byte = 0; byte < 256; ++byte) {
        const bool value = byte == '\t' || (byte >= ' ' && byte != 0x7f);
        for (std::size_t at = 1; at + 1 < length; ++at) {
            std::string text(length, 'v');
            text[at] = static_cast<char>(byte);
            const auto head = get("X: " + text + "\r\n");
            net::http1::request_parser parser{{}};
            const auto parsed = parser.parse(head);
            CAPTURE(byte);
            CAPTURE(at);
            REQUIRE(parsed.has_value() == value);
            REQUIRE((!value || parser.head().fields.back().value == text));
        }
    }
}

TEST_CASE("a field line is a name, a colon and a value, and ends in CRLF")
{
    const std::array verdicts{
        verdict{"X:\r\n"},
        verdict{"X:1\r\n"},
        verdict{"X: \t 1 \t \r\n"},
        verdict{"X: a:b\r\n"},
        verdict{"X: \xE2\x82\xAC\r\n"},
        verdict{"x_under: v\r\n"},
        verdict{"X\r\n", false},
        verdict{": v\r\n", false},
        verdict{"X : v\r\n", false},
        verdict{"X\t: v\r\n", false},
        verdict{" X: v\r\n", false},
        verdict{"\tX: v\r\n", false},
        verdict{"X: a\r\n b\r\n", false},
        verdict{"X: a\r\n\tb\r\n", false},
        verdict{"X:\r\n \r\n", false},
        verdict{"X: a\n", false},
        verdict{"X: a\r", false},
        verdict{"X: a\rb\r\n", false},
        verdict{"X: a\nb\r\n", false},
        verdict{"X: a\r\r\n", false},
        verdict{"\n", false},
        verdict{"\rZ", false},
    };
    for (const auto& row : verdicts) {
        check(get(row.text), row.good, row.code);
    }
    check(get(std::string{"X: a\0b\r\n", 8}), false, errc::bad_request);
}

TEST_SUITE_END();
