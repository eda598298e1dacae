// Heads of messages for tests. The text outlives the head.
#pragma once

#include "net/http1/head.hpp"

#include <doctest/doctest.h>

#include <string_view>

inline net::http1::request_head request_head_of(std::string_view text)
{
    net::http1::request_parser parser{{}};
    const auto parsed = parser.parse(text);
    REQUIRE(parsed.has_value());
    REQUIRE(*parsed == text.size());
    return parser.head();
}

inline net::http1::response_head response_head_of(std::string_view text)
{
    net::http1::response_parser parser{{}};
    const auto parsed = parser.parse(text, net::http1::method::post);
    REQUIRE(parsed.has_value());
    REQUIRE(*parsed == text.size());
    return parser.head();
}
