#include "core/ascii.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("core/ascii");

TEST_CASE("only the letters of ASCII have another case")
{
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const auto c = static_cast<char>(byte);
        const bool is_capital = byte >= 'A' && byte <= 'Z';
        CHECK(core::lower(c) == (is_capital ? static_cast<char>(byte + 32) : c));
        CHECK(core::is_letter(c) == (is_capital || (byte >= 'a' && byte <= 'z')));
        CHECK(core::is_digit(c) == (byte >= '0' && byte <= '9'));
    }
    CHECK(core::in_lower_case("X-Ab\xC3\x84[@`{") == "x-ab\xC3\x84[@`{");
}

TEST_CASE("texts are equal whatever the case of their letters, and only of their letters")
{
    CHECK(core::equal_ignoring_case("", ""));
    CHECK(core::equal_ignoring_case("Content-Type", "cONTENT-tYPE"));
    CHECK_FALSE(core::equal_ignoring_case("abc", "ab"));
    CHECK_FALSE(core::equal_ignoring_case("@", "`"));
    CHECK_FALSE(core::equal_ignoring_case("[", "{"));
    CHECK_FALSE(core::equal_ignoring_case("\xC4", "\xE4"));
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; ++b) {
            const char x = static_cast<char>(a);
            const char y = static_cast<char>(b);
            const bool letters = a < 128 && b < 128 && std::isalpha(a) != 0 && std::isalpha(b) != 0;
            const bool equal = a == b || (letters && std::tolower(a) == std::tolower(b));
            REQUIRE(core::equal_ignoring_case({&x, 1}, {&y, 1}) == equal);
        }
    }
}

TEST_CASE("a token has the bytes of RFC 9110 and at least one")
{
    constexpr std::string_view bytes = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        CHECK(core::is_token_byte(static_cast<char>(byte)) == (bytes.find(static_cast<char>(byte)) != bytes.npos));
    }
    CHECK(core::is_token(bytes));
    CHECK_FALSE(core::is_token(""));
    CHECK_FALSE(core::is_token("a b"));
}

TEST_CASE("C0 and DEL are controls, and no other byte is")
{
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        CHECK(core::is_control(static_cast<char>(byte)) == (byte < 0x20 || byte == 0x7F));
    }
}

TEST_CASE("hexadecimal digits of either case have a value, and no other byte has")
{
    constexpr std::string_view digits = "0123456789abcdef";
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        const auto at = digits.find(core::lower(static_cast<char>(byte)));
        CHECK(core::hex_value(static_cast<char>(byte)) == (at == digits.npos ? -1 : static_cast<int>(at)));
    }
}

TEST_CASE("a text is found whatever the case of its letters")
{
    CHECK(core::find_ignoring_case("a; Charset=x; charset=y", "CHARSET=") == 3);
    CHECK(core::find_ignoring_case("abc", "ABC") == 0);
    CHECK(core::find_ignoring_case("ab", "abc") == std::string_view::npos);
    CHECK(core::find_ignoring_case("", "a") == std::string_view::npos);
}

TEST_CASE("only the edges of a text are trimmed")
{
    CHECK(core::trim(" \t a b\t ") == "a b");
    CHECK(core::trim(" \t ").empty());
    CHECK(core::trim("").empty());
    CHECK(core::trim("\r\na\r\n") == "\r\na\r\n");
    CHECK(core::trim("\r\n a b \r\n", " \r\n") == "a b");
    CHECK(core::trim("\r\n", " \r\n").empty());
    CHECK(core::trim("-.a-b.-", "-.") == "a-b");
}

TEST_SUITE_END();
