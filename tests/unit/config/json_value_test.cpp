#include "config/json_value.hpp"

#include "config/document.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("config/json_value");

namespace {

// `yaml` as the value of a key, so that it may be null.
std::string as_json(const std::string& yaml)
{
    config::problem_list problems{"c.yml"};
    const auto root = config::parse_document("x: " + yaml, problems);
    REQUIRE(config::testing::lines(problems.take()) == "");
    REQUIRE(root.has_value());
    return core::to_text(config::to_json(root.value_or(config::node{}).items.at(0)));
}

}  // namespace

TEST_CASE("a plain scalar has the type that the core schema of YAML 1.2 gives it")
{
    const std::pair<const char*, const char*> rows[] = {
        {"", "null"},
        {"~", "null"},
        {"null", "null"},
        {"Null", "null"},
        {"nULL", R"("nULL")"},
        {"true", "true"},
        {"True", "true"},
        {"FALSE", "false"},
        {"tRUE", R"("tRUE")"},
        {"yes", R"("yes")"},
        {"off", R"("off")"},
        {"0", "0"},
        {"-0", "0"},
        {"42", "42"},
        {"+42", "42"},
        {"-42", "-42"},
        {"007", "7"},
        {"0x1F", "31"},
        {"0o17", "15"},
        {"-0x1F", R"("-0x1F")"},
        {"0x", R"("0x")"},
        {"0x1G", R"("0x1G")"},
        {"0o18", R"("0o18")"},
        {"0b11", R"("0b11")"},
        {"1_000", R"("1_000")"},
        {"+", R"("+")"},
        {"+-1", R"("+-1")"},
        {"++1", R"("++1")"},
        {"1.5", "1.5"},
        {"1.0", "1.0"},
        {"1.", "1.0"},
        {".5", "0.5"},
        {"-.5", "-0.5"},
        {"+1.5", "1.5"},
        {"1e3", "1000.0"},
        {"1E+3", "1000.0"},
        {"25e-1", "2.5"},
        {"0.0", "0.0"},
        {".", R"(".")"},
        {"1e", R"("1e")"},
        {"e3", R"("e3")"},
        {"1e+", R"("1e+")"},
        {"1.2.3", R"("1.2.3")"},
        {"2024-11-05", R"("2024-11-05")"},
        {"12:30:45", R"("12:30:45")"},
        {"1 2", R"("1 2")"},
        {"text", R"("text")"},
        {"\"42\"", R"("42")"},
        {"'true'", R"("true")"},
        {"\"\"", R"("")"},
        {"!!str 42", R"("42")"},
        {"|\n  42\n", R"("42\n")"},
        {">-\n  true\n", R"("true")"},
    };
    for (const auto& [yaml, json] : rows) {
        CAPTURE(yaml);
        CHECK(as_json(yaml) == std::string{json});
    }
}

TEST_CASE("a number keeps its value, or stays the text that was written")
{
    const std::pair<const char*, const char*> rows[] = {
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"18446744073709551615", "18446744073709551615"},
        {"18446744073709551616", R"("18446744073709551616")"},
        {"-9223372036854775809", R"("-9223372036854775809")"},
        {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
        {"0x10000000000000000", R"("0x10000000000000000")"},
        {"123456789012345678901234567890", R"("123456789012345678901234567890")"},
        {"0.1", "0.1"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"3.14159265358979", "3.14159265358979"},
        {"3.14159265358979323846", R"("3.14159265358979323846")"},
        {"0.1000000000000000055511151231257827", R"("0.1000000000000000055511151231257827")"},
        {"1.10", "1.1"},
        {"100.0e-2", "1.0"},
        {"1e22", "1e+22"},
        {"1e308", "1e+308"},
        {"1e309", R"("1e309")"},
        {"1e-999", R"("1e-999")"},
        {"1e99999999999999999999", R"("1e99999999999999999999")"},
        {"0e99999999999999999999", "0.0"},
        {".inf", R"(".inf")"},
        {"-.Inf", R"("-.Inf")"},
        {".nan", R"(".nan")"},
        {"inf", R"("inf")"},
        {"nan", R"("nan")"},
    };
    for (const auto& [yaml, json] : rows) {
        CAPTURE(yaml);
        CHECK(as_json(yaml) == std::string{json});
    }
}

TEST_CASE("maps and lists keep their order, and the keys of a map are text")
{
    CHECK(
        as_json("{z: 1, a: [1, {b: ~}, []], 1: x, true: y, m: {}}") ==
        R"({"z":1,"a":[1,{"b":null},[]],"1":"x","true":"y","m":{}})"
    );
}

TEST_CASE("what came as JSON is the same again, and nothing in it is read as YAML")
{
    for (const auto* text :
         {"null",
          "true",
          "-17",
          "18446744073709551615",
          "1.5",
          R"("true")",
          R"("17")",
          R"("~")",
          R"("")",
          R"({"b":1,"a":[null,{"c":"*x"},[]],"":{}})"}) {
        CAPTURE(text);
        CHECK(core::to_text(config::to_json(config::to_node(core::parse_json(text).value()))) == text);
    }
}

TEST_CASE("a member is added without looking for it")
{
    auto object = core::json::object();
    config::append_member(object, "b", 1);
    config::append_member(object, "a", core::json::array());
    CHECK(core::to_text(object) == R"({"b":1,"a":[]})");
    REQUIRE(core::member(object, "a") != nullptr);
}

TEST_SUITE_END();
