#include "a2a/card/card_interfaces.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <tuple>

TEST_SUITE_BEGIN("a2a/card member names");

TEST_CASE("names are the same to the most lenient reader of JSON, and only those")
{
    const std::tuple<std::string_view, std::string_view, bool> rows[]{
        {"url", "URL", true},
        {"agentCard", "_agent-card_", true},
        {"skills", "S\u212AILL\u017F", true},
        {"\u017F\u212A", "\u212A\u017F", false},
        {"\u017F\u212A", "Sk", true},
        {"s", "\u017F-", true},
        {"s", "\u017Fs", false},
        {"s", "", false},
        {"_", "", true},
        {"s", "\xC5", false},
        {"s", "\xBF", false},
        {"k", "\xE2\x84", false},
        {"k", "\u212B", false},
        {"\u017E", "\u017E", true},
        {"url", {"url\0", 4}, false},
        {"\u017D", "\u017E", false},
    };
    for (const auto& [a, b, same] : rows) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(a2a::same_name(a, b) == same);
        CHECK(a2a::same_name(b, a) == same);
    }
}

TEST_SUITE_END();
