#include "core/json/canonical_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("core/json/canonical_json");

namespace {

std::string canonical(std::string_view text)
{
    return core::canonical_json(core::parse_json(text).value());
}

}  // namespace

TEST_CASE("numbers are those of RFC 8785 appendix B")
{
    constexpr std::pair<std::uint64_t, const char*> samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (const auto& [bits, wanted] : samples) {
        CAPTURE(bits);
        CHECK(core::canonical_number(std::bit_cast<double>(bits)) == wanted);
    }
}

TEST_CASE("whole numbers are written as the doubles that they are")
{
    CHECK(canonical("[1,-1,10,100,-0,-0.0,1.0,1e2]") == "[1,-1,10,100,0,0,1,100]");
    CHECK(canonical("9007199254740993") == "9007199254740992");
    CHECK(canonical("18446744073709551615") == "18446744073709552000");
    CHECK(canonical("123456789012345678901234567890") == "1.2345678901234568e+29");
}

TEST_CASE("the example of RFC 8785 section 3.2.2 has the result of section 3.2.3")
{
    CHECK(
        canonical(R"({
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        })") ==
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
        "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
}

TEST_CASE("members stand in the order of UTF-16, as in RFC 8785 section 3.2.3")
{
    CHECK(
        canonical(R"({"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7})") ==
        "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001F600\":5,\"\uFB33\":3}"
    );
}

TEST_CASE("the order of UTF-16 is that of its code units, whatever the lengths in UTF-8")
{
    const std::u16string_view points[] = {u"",           u"\u0001",     u"a",           u"aa",     u"\u007f",
                                          u"\u0080",     u"\u07ff",     u"\u0800",      u"\ud7ff", u"\U00010000",
                                          u"\U00010001", u"\U0010ffff", u"\ue000",      u"\uefff", u"\uf000",
                                          u"\uffff",     u"a\uffff",    u"a\U00010000", u"\u00e9", u"\u00ea"};
    const auto utf8 = [](std::u16string_view text) {
        std::string quoted = "\"";
        for (const char16_t unit : text) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(unit));
            quoted += escape.data();
        }
        return core::parse_json(quoted + '"').value().get<std::string>();
    };
    for (const auto a : points) {
        for (const auto b : points) {
            CHECK(core::less_in_utf16(utf8(a), utf8(b)) == (a < b));
        }
    }
}

TEST_CASE("only what must be escaped is escaped, and the shortest way")
{
    std::string all = "\"";
    for (unsigned c = 0; c < 0x20; ++c) {
        std::array<char, 8> escape{};
        std::snprintf(escape.data(), escape.size(), "\\u%04X", c);
        all += escape.data();
    }
    CHECK(
        canonical(all + "\\u007f\\/\"") ==
        "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\\u0010\\u0011"
        "\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f\x7f/\""
    );
}

TEST_CASE("empty containers and nesting are kept, white space is not")
{
    CHECK(
        canonical(" { \"b\" : [ ] , \"a\" : { } , \"\" : [ { \"y\" : 1 , \"x\" : [ [ ] ] } ] } ") ==
        R"({"":[{"x":[[]],"y":1}],"a":{},"b":[]})"
    );
}

TEST_CASE("a lean text leaves out what is empty or becomes so, and says whether there was any")
{
    const auto document =
        core::parse_json(R"({"d":{"e":[{}]},"b":[[],"",1],"c":null,"a":"","f":false,"g":[{"x":{}},{"y":"n"}]})")
            .value();
    const auto lean = core::canonical_json(document, {.lean = true});
    CHECK(lean.text == R"({"b":[1],"f":false,"g":[{"y":"n"}]})");
    CHECK(lean.left_out);
    const auto nothing = core::canonical_json(core::parse_json(R"({"a":[{}]})").value(), {.lean = true});
    CHECK(nothing.text == "{}");
    CHECK_FALSE(core::canonical_json(core::parse_json(lean.text).value(), {.lean = true}).left_out);
}

TEST_CASE("members of the document are left out by name, those of others by that name are not")
{
    const auto document = core::parse_json(R"({"s":1,"a":{"s":2}})").value();
    CHECK(core::canonical_json(document, {.without = {"s"}}).text == R"({"a":{"s":2}})");
    CHECK_FALSE(core::canonical_json(document, {.lean = true, .without = {"s"}}).left_out);
}

TEST_CASE("as Python writes it: names by their bytes, numbers with their point, ASCII only")
{
    const auto document = core::parse_json("{\"\U0001F600\":1.0,\"\uFB33\":\"\u00e9\x7f\\n\"}").value();
    CHECK(core::canonical_json(document, {}).text == "{\"\U0001F600\":1,\"\uFB33\":\"\u00e9\x7f\\n\"}");
    CHECK(
        core::canonical_json(document, {.python = true}).text ==
        "{\"\\ufb33\":\"\\u00e9\x7f\\n\",\"\\ud83d\\ude00\":1.0}"
    );
}

TEST_SUITE_END();
