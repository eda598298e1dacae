#include "net/http1/head.hpp"
#include "tests/unit/net/http1/outcome.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace net::http1;
using core::errc;

namespace {

std::string of_length(std::size_t bytes)
{
    const std::string_view begin = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    return std::string{begin} + std::string(bytes - begin.size() - 4, 'x') + "\r\n\r\n";
}

errc failure(std::string_view bytes, head_limits limits)
{
    request_parser parser{limits};
    const auto parsed = parser.parse(bytes);
    REQUIRE(parsed.has_error());
    return parsed.error().code;
}

bool accepted(std::string_view bytes, head_limits limits)
{
    request_parser parser{limits};
    const auto parsed = parser.parse(bytes);
    return parsed.has_value() && *parsed == bytes.size();
}

bool waits(std::string_view bytes, head_limits limits = {})
{
    request_parser parser{limits};
    const auto parsed = parser.parse(bytes);
    return parsed.has_value() && *parsed == 0;
}

}  // namespace

TEST_SUITE_BEGIN("net/http1/request limits");

TEST_CASE("a head may be as long as the limit and no longer")
{
    const head_limits limits{.bytes = 200};
    CHECK(accepted(of_length(199), limits));
    CHECK(accepted(of_length(200), limits));
    CHECK(failure(of_length(201), limits) == errc::header_too_large);
    CHECK(accepted("\r\n" + of_length(198), limits));
    CHECK(failure("\r\n" + of_length(199), limits) == errc::header_too_large);

    const head_limits defaults{.value = 16 * 1024};
    CHECK(accepted(of_length(16 * 1024), defaults));
    CHECK(failure(of_length(16 * 1024 + 1), defaults) == errc::header_too_large);
}

TEST_CASE("a head over the limit is refused before its end is seen")
{
    const head_limits limits{.bytes = 200};
    const auto bytes = of_length(1000);
    CHECK(waits(bytes.substr(0, 199), limits));
    // 200 bytes without an end cannot become a head of 200.
    CHECK(failure(bytes.substr(0, 200), limits) == errc::header_too_large);
    CHECK(failure(std::string(200, 'G'), {.bytes = 20}) == errc::header_too_large);
}

TEST_CASE("what follows a head does not count")
{
    const head_limits limits{.bytes = 200};
    const auto bytes = of_length(200);
    request_parser parser{limits};
    const auto parsed = parser.parse(bytes + std::string(1000, '\0'));
    REQUIRE(parsed.has_value());
    CHECK(*parsed == bytes.size());
}

TEST_CASE("a head may have as many fields as the limit and no more")
{
    const auto with = [](std::size_t fields) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n";
        for (std::size_t field = 1; field < fields; ++field) {
            bytes += "X: 1\r\n";
        }
        return bytes;
    };
    for (const std::size_t limit : {std::size_t{3}, std::size_t{100}}) {
        const head_limits limits{.fields = limit};
        CHECK(accepted(with(limit - 1) + "\r\n", limits));
        CHECK(accepted(with(limit) + "\r\n", limits));
        CHECK(failure(with(limit + 1) + "\r\n", limits) == errc::header_too_large);
        CHECK(waits(with(limit) + "\r", limits));
        CHECK(failure(with(limit) + "X", limits) == errc::header_too_large);
    }
}

TEST_CASE("the value of a field may be as long as the limit and no longer, wherever the head is cut")
{
    const auto with = [](const std::string& line) { return "GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n"; };
    const head_limits limits{.value = 20};
    for (const std::string space : {"", " ", "   \t "}) {
        CHECK(accepted(with("X:" + space + std::string(19, 'x')), limits));
        CHECK(accepted(with("X:" + space + std::string(20, 'x')), limits));
        CHECK(failure(with("X:" + space + std::string(21, 'x')), limits) == errc::header_too_large);
    }
    CHECK(accepted(with("X:" + std::string(50, ' ')), limits));
    CHECK(accepted(with("X: x" + std::string(19, ' ')), limits));
    CHECK(failure(with("X: x" + std::string(20, ' ')), limits) == errc::header_too_large);
    const head_limits defaults;
    CHECK(accepted(with("X: " + std::string(8 * 1024, 'x')), defaults));
    CHECK(failure(with("X: " + std::string(8 * 1024 + 1, 'x')), defaults) == errc::header_too_large);
    for (const auto& value : {std::string(20, 'x'), std::string(21, 'x'), "  " + std::string(25, 'x')}) {
        const auto bytes = with("X:" + value);
        const auto whole = tests::read_request(bytes, {}, tests::buffer::moving, limits);
        CHECK(tests::read_request(bytes, tests::every_byte(bytes), tests::buffer::still, limits) == whole);
    }
    CHECK(waits("GET / HTTP/1.1\r\nX: " + std::string(20, 'x'), limits));
    CHECK(failure("GET / HTTP/1.1\r\nX: " + std::string(21, 'x'), limits) == errc::header_too_large);
}

TEST_CASE("a target may be as long as the limit and no longer")
{
    const auto with = [](std::size_t target) {
        return "GET /" + std::string(target - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
    };
    for (const std::size_t limit : {std::size_t{8}, std::size_t{8 * 1024}}) {
        const head_limits limits{.target = limit};
        CHECK(accepted(with(limit - 1), limits));
        CHECK(accepted(with(limit), limits));
        CHECK(failure(with(limit + 1), limits) == errc::target_too_long);
        CHECK(waits(with(limit + 1).substr(0, 4 + limit), limits));
        CHECK(failure(with(limit + 1).substr(0, 4 + limit + 1), limits) == errc::target_too_long);
    }
}

TEST_CASE("a percent sign at the limit of the target counts with its digits")
{
    for (std::size_t before = 4; before <= 8; ++before) {
        const auto target = "/" + std::string(before - 1, 'a') + "%41";
        const auto bytes = "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
        CAPTURE(target);
        if (target.size() <= 8) {
            CHECK(accepted(bytes, {.target = 8}));
        } else {
            CHECK(failure(bytes, {.target = 8}) == errc::target_too_long);
        }
    }
}

TEST_CASE("two empty lines before a request are ignored, a third is refused")
{
    const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    CHECK(accepted("\r\n" + request, {}));
    CHECK(accepted("\r\n\r\n" + request, {}));
    CHECK(failure("\r\n\r\n\r\n" + request, {}) == errc::bad_request);
    CHECK(waits("\r\n\r\n"));
    CHECK(failure("\r\n\r\n\r", {}) == errc::bad_request);
    CHECK(failure("\n" + request, {}) == errc::bad_request);
    CHECK(failure("\rG", {}) == errc::bad_request);
}

TEST_CASE("a refusal comes with the first byte that decides it")
{
    struct row {
        std::string bytes;  // the last byte decides
        errc code = errc::bad_request;
    };
    const std::array rows{
        row{"\x16"},
        row{"\x80"},
        row{"{"},
        row{" "},
        row{"GET\t"},
        row{"GET\r"},
        row{"G\n"},
        row{std::string(33, 'M'), errc::not_implemented},
        row{"GET  "},
        row{"GET a"},
        row{"GET /\r"},
        row{"GET /\n"},
        row{"GET /#"},
        row{"GET /%x"},
        row{"GET /%0x"},
        row{"GET /\x7f"},
        row{"GET *a "},
        row{"GET / h"},
        row{"GET / HTTP/1.1\n"},
        row{"GET / HTTP/1.1 "},
        row{"GET / HTTP/1.1\rX"},
        row{"GET / HTTP/1.2\r\n", errc::http_version_not_supported},
        row{"GETS / HTTP/1.1\r\n", errc::not_implemented},
        row{"GET / HTTP/1.1\r\n "},
        row{"GET / HTTP/1.1\r\n\n"},
        row{"GET / HTTP/1.1\r\n:"},
        row{"GET / HTTP/1.1\r\nHost "},
        row{"GET / HTTP/1.1\r\nHost\r"},
        row{"GET / HTTP/1.1\r\nX: \n"},
        row{std::string{"GET / HTTP/1.1\r\nX: \0", 20}},
        row{"GET / HTTP/1.1\r\nX: a\rb"},
        row{"GET / HTTP/1.1\r\nHost: a b\r\n"},
        row{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n"},
        row{"GET / HTTP/1.1\r\nHost: a\r\n "},
        row{"GET / HTTP/1.1\r\nContent-Length: x\r\n"},
        row{"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n"},
        row{"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"},
        row{"GET / HTTP/1.1\r\nExpect: x\r\n", errc::expectation_failed},
        row{"GET / HTTP/1.1\r\n\rX"},
        row{"GET / HTTP/1.1\r\n\r\n"},
    };
    for (const auto& [bytes, code] : rows) {
        CAPTURE(bytes);
        CHECK(waits(std::string_view{bytes}.substr(0, bytes.size() - 1)));
        CHECK(failure(bytes, {}) == code);
    }
}

TEST_CASE("the head's views lie in the buffer of the call that completed it")
{
    const std::string bytes = "GET /a HTTP/1.1\r\nHost: a.test\r\nX: value\r\n\r\n";
    const auto inside = [](std::string_view part, std::string_view whole) {
        return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
    };
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        request_parser parser{{}};
        REQUIRE(parser.parse(std::string_view{bytes}.substr(0, cut)).value() == 0);
        const std::string moved{bytes.data(), bytes.size()};
        REQUIRE(parser.parse(moved).value() == moved.size());
        const auto& head = parser.head();
        CHECK(inside(head.target, moved));
        CHECK(inside(head.authority, moved));
        for (const auto& line : head.fields) {
            CHECK(inside(line.name, moved));
            CHECK(inside(line.value, moved));
        }
    }
}

TEST_CASE("the list of fields keeps its memory from message to message")
{
    std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int field = 0; field < 60; ++field) {
        bytes += "X: 1\r\n";
    }
    bytes += "\r\n";
    request_parser parser{{}};
    REQUIRE(parser.parse(bytes).has_value());
    const auto* const memory = parser.head().fields.data();
    for (int round = 0; round < 3; ++round) {
        parser.reset();
        REQUIRE(parser.parse(bytes).has_value());
        CHECK(parser.head().fields.data() == memory);
    }
}

TEST_SUITE_END();
