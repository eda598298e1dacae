#include "core/pattern.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("core/pattern");

TEST_CASE("a star is any text, also none, and everything else is itself")
{
    struct row {
        std::string pattern;
        std::string text;
        bool fits;
    };
    for (const auto& [pattern, text, fits] : {
             row{"", "", true},
             {"", "a", false},
             {"a", "a", true},
             {"a", "A", false},
             {"a", "ab", false},
             {"*", "", true},
             {"*", "anything", true},
             {"gold-*", "gold-", true},
             {"gold-*", "gold-1", true},
             {"gold-*", "old-1", false},
             {"*-gold", "a-gold", true},
             {"*-gold", "a-golden", false},
             {"a*b*c", "aXbXbYc", true},
             {"a*b*c", "aXcXb", false},
             {"**", "x", true},
             {"?", "x", false},
         }) {
        CAPTURE(pattern);
        CAPTURE(text);
        CHECK(core::fits(pattern, text) == fits);
    }
}

TEST_CASE("a pattern with many stars is decided at once")
{
    std::string pattern;
    for (int i = 0; i < 60; ++i) {
        pattern += "a*";
    }
    CHECK_FALSE(core::fits(pattern + "b", std::string(10'000, 'a')));
}

TEST_SUITE_END();
