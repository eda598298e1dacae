#include "core/json/ambiguity.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("core/json/ambiguity");

TEST_CASE("no signature vouches for text that readers take for different things")
{
    for (const auto* text : {
             R"({"name":"a","name":"a"})",
             R"({"name":"a","n\u0061me":"b"})",
             R"({"name":"a","x":[{"y":1,"y":2}]})",
             R"({"name":"a","x":9007199254740993})",
             R"({"name":"a","x":-9007199254740993})",
             R"({"name":"a","x":18446744073709551615})",
             R"({"x":18446744073709551617})",
             R"({"x":[-18446744073709551617]})",
             R"({"name":)",
         }) {
        CAPTURE(text);
        CHECK(core::ambiguity(text).has_value());
    }
    for (const auto* text : {
             R"({"name":"a","x":{"name":"a"},"y":[{"name":1},{"name":2}]})",
             R"({"x":9007199254740992,"y":-9007199254740992,"z":0.1,"u":1e30})",
         }) {
        CAPTURE(text);
        CHECK_FALSE(core::ambiguity(text).has_value());
    }
}

TEST_SUITE_END();
