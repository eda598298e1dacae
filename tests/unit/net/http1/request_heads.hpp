// Request heads, read whole: for the tests of them.
#pragma once

#include "net/http1/head.hpp"

#include <doctest/doctest.h>

#include <string>

namespace http1_test {

struct verdict {
    std::string text;  // put into the request
    bool good = true;
    core::errc code = core::errc::bad_request;  // if it is not good
};

// The head must be accepted as a whole, or be refused with that code.
inline void check(const std::string& bytes, bool good, core::errc code)
{
    CAPTURE(bytes);
    net::http1::request_parser parser{{}};
    const auto parsed = parser.parse(bytes);
    CHECK(parsed.has_value() == good);
    if (parsed.has_value()) {
        CHECK(*parsed == bytes.size());
    } else {
        CHECK(parsed.error().code == code);
        CHECK(parsed.error().from == core::side::caller);
    }
}

inline std::string get(const std::string& field_lines)
{
    return "GET /a HTTP/1.1\r\nHost: gw.test\r\n" + field_lines + "\r\n";
}

inline net::http1::request_head parse(const std::string& bytes)
{
    net::http1::request_parser parser{{}};
    const auto parsed = parser.parse(bytes);
    REQUIRE(parsed.has_value());
    REQUIRE(*parsed == bytes.size());
    return parser.head();
}

}  // namespace http1_test
