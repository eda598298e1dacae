#include "core/utf8.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("core/utf8");

namespace {

std::string encoded(std::uint32_t point)
{
    const auto tail = [point](unsigned shift) { return static_cast<char>(0x80U | ((point >> shift) & 0x3FU)); };
    if (point < 0x80) {
        return {static_cast<char>(point)};
    }
    if (point < 0x800) {
        return {static_cast<char>(0xC0U | point >> 6U), tail(0)};
    }
    if (point < 0x10000) {
        return {static_cast<char>(0xE0U | point >> 12U), tail(6), tail(0)};
    }
    return {static_cast<char>(0xF0U | point >> 18U), tail(12), tail(6), tail(0)};
}

}  // namespace

TEST_CASE("every code point but the surrogates is decoded, and nothing behind the last is")
{
    std::uint32_t wrong = 0;
    for (std::uint32_t point = 0; point < 0x120000; ++point) {
        const auto text = encoded(point);
        const auto first = core::first_code_point(text);
        const bool valid = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
        const bool as_expected = valid ? first.value == point && first.bytes == text.size()
                                       : first.value == core::replacement_point && first.bytes == 1;
        wrong += as_expected ? 0U : 1U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("overlong, cut and lone bytes are replaced one by one")
{
    for (const std::string_view text :
         {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\x80", "\xFF"
         }) {
        CAPTURE(text);
        const auto first = core::first_code_point(text);
        CHECK(first.value == core::replacement_point);
        CHECK(first.bytes == 1);
    }
}

TEST_CASE("a text is cut between its characters")
{
    CHECK(core::cut_utf8("abc", 3) == "abc");
    CHECK(core::cut_utf8("abc", 2) == "ab");
    CHECK(core::cut_utf8("a\xE2\x82\xAC", 4) == "a\xE2\x82\xAC");
    CHECK(core::cut_utf8("a\xE2\x82\xAC", 3) == "a");
    CHECK(core::cut_utf8("a\xF0\x9F\x98\x80z", 4) == "a");
    CHECK(core::cut_utf8("\xE2\x82\xAC", 0).empty());
    CHECK(core::cut_utf8("\xE2\x82\xAC", 1).empty());
}

TEST_CASE("of a text that is not UTF-8 at most three bytes are lost beside what is cut")
{
    CHECK(core::cut_utf8(std::string(10, '\x80'), 8).size() == 5);
}

TEST_CASE("one byte order mark is taken off the front of a text")
{
    CHECK(core::without_byte_order_mark("\xEF\xBB\xBF{}") == "{}");
    CHECK(core::without_byte_order_mark("\xEF\xBB\xBF") == "");
    CHECK(core::without_byte_order_mark("\xEF\xBB") == "\xEF\xBB");
    CHECK(core::without_byte_order_mark("{}\xEF\xBB\xBF") == "{}\xEF\xBB\xBF");
    CHECK(core::without_byte_order_mark("\xEF\xBB\xBF\xEF\xBB\xBFx") == "\xEF\xBB\xBFx");
}

TEST_CASE("a code point is escaped as one unit of UTF-16 or as two")
{
    std::string out;
    core::append_escape(out, 0x1F);
    core::append_escape(out, 0x20AC);
    core::append_escape(out, 0x1F600);
    CHECK(out == "\\u001f\\u20ac\\ud83d\\ude00");
}

TEST_SUITE_END();
