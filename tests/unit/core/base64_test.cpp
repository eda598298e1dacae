#include "core/base64.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("core/base64");

TEST_CASE("base64url is RFC 4648 section 5 without padding, both ways")
{
    constexpr std::pair<std::string_view, std::string_view> samples[] =
        {{"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xFB\xFF\xFE", "-__-"}};
    for (const auto& [bytes, text] : samples) {
        CHECK(core::base64url(bytes) == text);
        CHECK(core::from_base64url(text) == bytes);
    }
    for (const auto* bad : {"Z", "Zg==", "Zm9v\n", "Zm 8", "+//+", "Zh", "Zm9", "Zm9vY"}) {
        CAPTURE(bad);
        CHECK_FALSE(core::from_base64url(bad).has_value());
    }
}

TEST_CASE("base64 has the alphabet and the padding of RFC 4648 section 4")
{
    constexpr std::pair<std::string_view, std::string_view> samples[] =
        {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFB\xFF\xFE", "+//+"}};
    for (const auto& [bytes, text] : samples) {
        CHECK(core::base64(bytes) == text);
        CHECK(core::from_base64(text) == bytes);
        CHECK(core::from_base64(text.substr(0, text.find('='))) == bytes);
    }
    CHECK(core::from_base64("-__-") == "\xFB\xFF\xFE");
    for (const auto* bad : {"Z", "Zg=", "Zg===", "Zm9v====", "=", "Z=g=", "Zm9v\n", "Zh==", "Zm 8"}) {
        CAPTURE(bad);
        CHECK_FALSE(core::from_base64(bad).has_value());
    }
}

TEST_CASE("base64url goes into the memory of the caller, if it has room")
{
    std::array<char, 3> room{};
    CHECK(core::from_base64url("YWJj", room) == 3);
    CHECK(std::string_view{room.data(), 3} == "abc");
    CHECK(core::from_base64url("YWI", room) == 2);
    CHECK(core::from_base64url("", room) == 0);
    CHECK(!core::from_base64url("YWJjZA", room));
    CHECK(!core::from_base64url("YW\xC3\xA9", room));
    CHECK(!core::from_base64url("YWJ", room));
    CHECK(!core::from_base64url("Y", room));
}

TEST_SUITE_END();
