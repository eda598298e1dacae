// Heads of messages, whose text outlives them, and events for tests.
#pragma once

#include "gateway/console/event_filter.hpp"
#include "net/http1/head.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
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

inline std::string event_of_line(std::uint64_t number, std::string_view line)
{
    std::string out;
    gateway::console::append_event(out, number, line);
    return out;
}

inline std::size_t count(const std::string& text, const std::string& of)
{
    std::size_t found = 0;
    for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + of.size())) {
        ++found;
    }
    return found;
}

// Of all `lost` events together.
inline std::size_t lost_in(const std::string& text)
{
    const std::string name = "event: lost\ndata: {\"lines\": ";
    std::size_t lost = 0;
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        lost += std::stoul(text.substr(at + name.size()));
    }
    return lost;
}
