#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using core::parse_json;

TEST_SUITE_BEGIN("core/json/json");

TEST_CASE("members keep their order")
{
    const auto parsed = parse_json(R"({"b":1,"a":[true,null,"x"]})");
    REQUIRE(parsed.has_value());
    CHECK(core::to_text(*parsed) == R"({"b":1,"a":[true,null,"x"]})");
}

TEST_CASE("depth is limited exactly, and brackets in strings do not count")
{
    const auto nested = [](unsigned depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(parse_json(nested(63)).has_value());
    CHECK(parse_json(nested(64)).has_value());
    CHECK(parse_json(nested(65)).has_error());
    CHECK(parse_json("\"" + std::string(100, '[') + "\\\"" + std::string(100, '[') + "\"").has_value());
    CHECK(parse_json(nested(500000), {.bytes = 2000000, .depth = 64}).has_error());
}

TEST_CASE("a text is checked as it is parsed, without the document")
{
    const std::vector<std::string> texts{
        "null",
        R"({"a":[1,-0.5e3,"\u00e9",{}],"a":2})",
        " [ ] ",
        "",
        "{",
        "[1,]",
        "[1] 2",
        "1e308",
        "1e309",
        "-1e400",
        "01",
        "18446744073709551616",
        R"("\ud800")",
        "\"\xC3\x28\"",
        "\"\xC3\xA9\"",
        "\"\x01\"",
        std::string("1\0", 2),
        "\xEF\xBB\xBF"
        "1",
        "// x\n1",
        "NaN",
        std::string(64, '[') + std::string(64, ']'),
        std::string(65, '[') + std::string(65, ']'),
        std::string(101, ' ') + "1",
        R"({"a":1,"b":2,"c":3})",
        R"({"a":1,"b":2,"c":3,"d":4})",
    };
    for (const auto& text : texts) {
        CAPTURE(text);
        const core::json_limits limits{.bytes = 200, .members = 3};
        const auto parsed = parse_json(text, limits);
        const auto checked = core::check_json(text, limits);
        CHECK(checked.has_value() == parsed.has_value());
        if (!checked && !parsed) {
            CHECK(checked.error().detail == parsed.error().detail);
        }
    }
    CHECK(core::check_json(std::string(100, ' ') + "1", {.bytes = 101}).has_value());
    CHECK(core::check_json(std::string(100, ' ') + "1", {.bytes = 100}).has_error());
}

TEST_CASE("the members of one object are limited exactly, the elements of an array are not")
{
    const auto object = [](int members) {
        std::string text = "{";
        for (int i = 0; i < members; ++i) {
            text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":[1,2,\"a,b\"]";
        }
        return text + "}";
    };
    CHECK(parse_json(object(999)).has_value());
    CHECK(parse_json(object(1000)).has_value());
    CHECK(parse_json(object(1001)).has_error());
    CHECK(parse_json("[" + object(1000) + "," + object(1000) + "]").has_value());
    std::string array = "[0";
    for (int i = 1; i < 5000; ++i) {
        array += ",0";
    }
    CHECK(parse_json(array + "]").has_value());
}

TEST_CASE("the values of a document are limited exactly, and names of members are none")
{
    const auto accepts = [](std::string_view text, std::size_t values) {
        return core::parse_document(text, {}, values).has_value();
    };
    for (const auto* five : {"[1,2,[\"a\"]]", R"({"a":null,"b":{"c":[true]}})", "[[[[[]]]]]"}) {
        CAPTURE(five);
        CHECK_FALSE(accepts(five, 4));
        CHECK(accepts(five, 5));
        CHECK(accepts(five, 6));
    }
    CHECK(core::parse_document("[1,2]", {}, 2).error().detail == "a document with more than 2 values");
}

TEST_CASE("of members with one name the last value counts, at the place of the first")
{
    for (const auto* text :
         {R"({"a":1,"b":2,"a":3})",
          R"({"a":{"x":1,"x":[{"y":1,"y":2}]},"a":{"z":[1,{},[]],"":0,"":[1]},"b":""})",
          R"([{"c":1,"b":1,"a":1,"b":2,"c":2,"c":3,"d":4},[],{"a":{"a":{"a":1,"a":2}}}])",
          R"({"a":1,"a":2,"a":3,"a":{"a":4},"\u0061":5})"}) {
        CAPTURE(text);
        CHECK(core::to_text(*parse_json(text)) == core::json::parse(text).dump());
    }
    std::string many = "{";
    for (int i = 0; i < 999; ++i) {
        many += '"' + std::to_string(i * 7919 % 331) + "\":" + std::to_string(i) + ',';
    }
    many += R"("last":0})";
    CHECK(core::to_text(*parse_json(many)) == core::json::parse(many).dump());
}

TEST_CASE("size is limited exactly")
{
    CHECK(parse_json("[1]", {.bytes = 3}).has_value());
    CHECK(parse_json("[1]", {.bytes = 2}).has_error());
}

TEST_CASE("what is not JSON in UTF-8 is refused")
{
    for (const auto& text :
         {std::string{""},
          std::string{"{"},
          std::string{"[1,]"},
          std::string{"\xEF\xBB\xBF{}"},
          std::string{"nul"},
          std::string{"\"\xC0\xAF\""},
          std::string{"{}\0", 3},
          std::string{"{} {}"},
          std::string{"1e999"}}) {
        CAPTURE(text);
        const auto parsed = parse_json(text);
        REQUIRE(parsed.has_error());
        CHECK(parsed.error().code == core::errc::parse_error);
    }
}

TEST_CASE("a string is escaped so that any JSON reader gives it back")
{
    for (const auto& text :
         {std::string{"plain"}, std::string{"a\"b\\c\n\r\t\x01\x1f\x7f"}, std::string{"\xE2\x82\xAC\xF0\x9F\x98\x80"}
         }) {
        std::string out;
        core::append_json_string(out, text);
        const auto back = parse_json(out);
        REQUIRE(back.has_value());
        CHECK(back->get<std::string>() == text);
    }
}

TEST_CASE("bytes that are not UTF-8 become replacement characters, one each")
{
    for (const auto* broken : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
        std::string out;
        core::append_json_string(out, std::string("a") + broken + "b");
        const auto back = parse_json(out);
        REQUIRE(back.has_value());
        CHECK(back->get<std::string>().starts_with("a\xEF\xBF\xBD"));
        CHECK(back->get<std::string>().ends_with("b"));
    }
}

TEST_CASE("a member is looked up without exceptions")
{
    const auto value = *parse_json(R"({"a":"x","n":1})");
    REQUIRE(core::string_member(value, "a") != nullptr);
    CHECK(*core::string_member(value, "a") == "x");
    CHECK(core::string_member(value, "n") == nullptr);
    CHECK(core::member(value, "missing") == nullptr);
    CHECK(core::member(core::json::array(), "a") == nullptr);
}

TEST_SUITE_END();
