#include "gateway/model/terminal_text.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/terminal_text");

using gateway::model::flattened;
using gateway::model::printable;
using gateway::model::shown_json;
using gateway::model::shown_table;

TEST_CASE("what a terminal would obey is shown as an escape, and other text as it is")
{
    CHECK(printable("caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x8e\xb2") == "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x8e\xb2");
    CHECK(printable(std::string_view{"\x1b[31m\0\t\x7f", 8}) == R"(\u001b[31m\u0000\u0009\u007f)");
    CHECK(
        printable("\xc2\x9b"
                  "31m") == R"(\u009b31m)"
    );
    CHECK(
        printable("a\xe2\x80\xae"
                  "b\xe2\x81\xa6\xef\xbb\xbf") == R"(a\u202eb\u2066\ufeff)"
    );
    CHECK(printable("\xf3\xa0\x81\x81") == R"(\udb40\udc41)");
    CHECK(printable("a\nb") == R"(a\u000ab)");
    CHECK(printable("a\nb\r", true) == "a\nb\\u000d");
}

TEST_CASE("what is no UTF-8 is shown as such, a byte at a time")
{
    for (const auto* text : {"\x80", "\xff", "\xc1", "\xc3", "\xf5"}) {
        CHECK(printable(text) == "\xEF\xBF\xBD");
    }
    CHECK(printable("\xc0\x9b") == "\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(
        printable("\xe0\x82\x9b"
                  "x") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx"
    );
    CHECK(printable("\xed\xa0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(printable("\xf4\x90\x80\x80").find('\x90') == std::string::npos);
}

TEST_CASE("JSON is the same JSON after it was made printable")
{
    const core::json value{{"name", "a\x1b\x7f\xc2\x9b\xe2\x80\xae\"\\"}, {"list", {1, 2}}};
    const auto text = shown_json(value);
    CHECK(text.find('\x7f') == std::string::npos);
    CHECK(text.find('\xc2') == std::string::npos);
    CHECK(text.ends_with("}\n"));
    CHECK(core::parse_json(text).value() == value);
}

TEST_CASE("columns are as wide as their widest cell")
{
    CHECK(shown_table({{"ID", "NAME", "X"}, {"abc", "\xc3\xa9", "\n"}}) == "ID   NAME  X\nabc  \xc3\xa9     \\u000a\n");
    CHECK(shown_table({{"ID", "NAME", "X"}, {"a", "", ""}}) == "ID  NAME  X\na\n");
}

TEST_CASE("a value is flattened to the paths of what is in it")
{
    const auto rows =
        flattened({{"a", 1}, {"b", {{"c", "x y"}, {"d", {true, {{"e", nullptr}}}}}}, {"f", core::json::array()}});
    REQUIRE(rows.size() == 5);
    CHECK(rows[0] == std::vector<std::string>{"a", "1"});
    CHECK(rows[1] == std::vector<std::string>{"b.c", "x y"});
    CHECK(rows[2] == std::vector<std::string>{"b.d[0]", "true"});
    CHECK(rows[3] == std::vector<std::string>{"b.d[1].e", "null"});
    CHECK(rows[4] == std::vector<std::string>{"f", "[]"});
}

TEST_SUITE_END();
